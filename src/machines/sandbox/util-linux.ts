import { shellQuoted } from "#src/format/shell.ts"
import { join } from "node:path"
import { rlimitPrograms, rlimits } from "./bubblewrap.ts"
import { sealProgram } from "./seal.ts"
import { type Prepared, procParts, type Tier } from "./Tier.ts"
import { sealName, toolNames } from "./tools.ts"

/**
 * PID 1 of the machine until it becomes the machine's process. A chroot does not isolate (a process that may chroot
 * again escapes): pivot_root changes the root and the old one is unmounted, so that nothing outside remains reachable.
 *
 * $1 root, $2 tools, $3 uid, $4 gid, $5 host name, $6 bytes of /tmp, $7 the program that loads the seccomp filter (or
 * empty, where the processor has none), $8 what runs `enter`, $9… its own parameters.
 */
const become = `set -e
cd "$1"; tools=$2 uid=$3 gid=$4 size=$6 seal=$7 enter=$8
hostname "$5" 2>/dev/null || echo "$5" 2>/dev/null >/proc/sys/kernel/hostname || :
# Only the user namespace made below is allowed: the kernel code that further ones expose is often exploited.
echo 1 >/proc/sys/user/max_user_namespaces
shift 8
ro=remount,bind,ro,nosuid,noexec
mount -t proc -o nosuid,nodev,noexec proc proc
for name in ${procParts.readOnly.join(" ")}; do
  [ ! -e proc/$name ] || { mount --bind proc/$name proc/$name; mount -o $ro,nodev proc/$name; }
done
mount -t tmpfs -o mode=755,size=64k,nosuid,noexec dev dev
mkdir dev/shm
for name in null zero full random urandom; do : >dev/$name; mount --bind /dev/$name dev/$name; done
ln -s /proc/self/fd dev/fd; ln -s fd/0 dev/stdin; ln -s fd/1 dev/stdout; ln -s fd/2 dev/stderr
for name in ${procParts.emptyFiles.join(" ")}; do
  [ ! -e proc/$name ] || mount --bind dev/null proc/$name
done
for name in ${
  procParts.emptyDirectories.join(" ")
}; do [ ! -d proc/$name ] || mount -t tmpfs -o ro,size=0 none proc/$name; done
mount -t tmpfs -o "mode=1777,size=$size,nosuid,nodev" shm dev/shm
mount -t tmpfs -o "mode=1777,size=$size,nosuid,nodev" tmp tmp
mount -o $ro dev
mount --bind "$tools" .berth
mount -o remount,bind,ro,nosuid,nodev .berth
pivot_root . .berth/old
cd /
run="/.berth/ld --library-path /.berth"
$run /.berth/umount -l /.berth/old
exec $run /.berth/unshare --user --map-user="$uid" --map-group="$gid" -- $run /.berth/setpriv \\
  --no-new-privs --bounding-set=-all --inh-caps=-all --ambient-caps=-all -- \\
  $seal $run /.berth/env -i /.berth/ld --library-path /.berth /.berth/sh -c "$enter" berth-machine "$@"`

/**
 * The last step, without any privilege, so that an LD_PRELOAD among the variables affects no program of ours. The
 * variables come by descriptor 3, since they hold secrets and every user can read a command line.
 *
 * $1 working directory, $2… the command.
 */
const enter = `cd "$1" || exit 126
shift
unset PWD OLDPWD SHLVL
. /proc/self/fd/3
exec 3<&-
exec "$@"`

const isShellName = (name: string) => /^[A-Za-z_]\w*$/.test(name)

/** Shell text that sets the variables. */
const variables = (machine: Prepared) =>
  [...machine.env].filter(([name]) => isShellName(name))
    .map(([name, value]) => `export ${name}=${shellQuoted(value)}\n`).join("")

/** Variables whose names a shell can't set: they come from images only, and images hold no secrets. */
const unexportable = (machine: Prepared) => {
  const words = [...machine.env].filter(([name]) => !isShellName(name)).map(([name, value]) => `${name}=${value}`)
  return words.length === 0 ? [] : ["/.berth/ld", "--library-path", "/.berth", "/.berth/env", ...words]
}

/** The parent of PID 1, which passes its exit status on: `unshare --fork` reports a death by SIGKILL as exit 1. */
const passExitStatus = `exec 9>&2 2>/dev/null
"$@" 2>&9 9>&-`

const command = (machine: Prepared, tools: string) => [
  ...rlimits(machine),
  "unshare",
  "--mount",
  "--pid",
  "--ipc",
  "--uts",
  "--cgroup",
  "--",
  "sh",
  "-c",
  passExitStatus,
  "berth-machine",
  "sh",
  "-c",
  become,
  "berth-machine",
  machine.root,
  tools,
  String(machine.user.uid),
  String(machine.user.gid),
  machine.hostname,
  String(machine.limits.scratchBytes),
  sealProgram() === undefined ? "" : `/.berth/${sealName}`,
  enter,
  machine.workingDir,
  ...unexportable(machine),
  ...machine.argv
]

/** util-linux ≥ 2.36 alone, which every Linux has. `tools` is a directory made by `gatherTools`. */
export const utilLinux = (tools: string): Tier => ({
  name: "util-linux",
  userNamespace: true,
  ownCgroup: false,
  depth: 1,
  isInit: true,
  programs: [...rlimitPrograms, "unshare", ...toolNames().map((name) => join(tools, name))],
  command: (machine) => ({
    argv: command(machine, tools),
    files: { environment: variables(machine) },
    inputs: ["environment"]
  })
})
