import { rlimits } from "./bubblewrap.ts"
import { type Prepared, procParts, type Tier } from "./Tier.ts"

/**
 * PID 1 of the machine until it becomes the machine's process. A chroot is no wall (whoever may chroot again walks
 * out): the root is changed by pivot_root and the old one unmounted, so that there is no outside left to reach.
 *
 * $1 root, $2 tools, $3 uid, $4 gid, $5 host name, $6 bytes of /tmp, $7 working directory, $8… `NAME=value`
 * words, "--", the command.
 */
const become = `set -e
cd "$1"; tools=$2 uid=$3 gid=$4 size=$6 workdir=$7
hostname "$5" 2>/dev/null || echo "$5" 2>/dev/null >/proc/sys/kernel/hostname || :
# The one user namespace below is the last: kernel code behind further ones is a favourite way out.
echo 1 >/proc/sys/user/max_user_namespaces
shift 7
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
  $run /.berth/env -i --chdir="$workdir" -- "$@"`

/** The parent of PID 1, there to pass its exit status on: `unshare --fork` makes a death by SIGKILL an exit of 1. */
const standBy = `exec 3>&2 2>/dev/null
"$@" 2>&3 3>&-`

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
  standBy,
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
  machine.workingDir,
  // env(1) puts them into place after every privilege is gone: an LD_PRELOAD among them moves nothing of ours.
  ...[...machine.env].map(([name, value]) => `${name}=${value}`),
  ...machine.argv
]

/** util-linux ≥ 2.36 alone, which every Linux has. `tools` is a directory made by `gatherTools`. */
export const utilLinux = (tools: string): Tier => ({
  name: "util-linux",
  userNamespace: true,
  ownCgroup: false,
  depth: 1,
  isInit: true,
  enforces: ["no capabilities", "no new privileges"],
  command: (machine) => ({ argv: command(machine, tools), files: {}, inputs: [] })
})
