import { existsSync } from "node:fs"
import { dataLimit } from "./limits.ts"
import { seccompProgram } from "./seccomp.ts"
import { type Prepared, procParts, type Tier } from "./Tier.ts"

const hasProc = (name: string) => existsSync(`/proc/${name}`)

const bwrapArguments = (machine: Prepared, seccomp: boolean): ReadonlyArray<string> => [
  "--unshare-user",
  "--disable-userns",
  "--unshare-pid",
  "--unshare-ipc",
  "--unshare-uts",
  "--unshare-cgroup-try",
  // The platform's user, mapped to this uid: it owns the image's files, and no other file has an owner inside.
  "--uid",
  String(machine.user.uid),
  "--gid",
  String(machine.user.gid),
  "--hostname",
  machine.hostname,
  machine.readOnly ? "--ro-bind" : "--bind",
  machine.root,
  "/",
  "--proc",
  "/proc",
  ...procParts.readOnly.filter(hasProc).flatMap((name) => ["--ro-bind", `/proc/${name}`, `/proc/${name}`]),
  ...procParts.emptyFiles.filter(hasProc).flatMap((name) => ["--ro-bind", "/dev/null", `/proc/${name}`]),
  ...procParts.emptyDirectories.filter(hasProc).flatMap((name) => [
    ...["--tmpfs", `/proc/${name}`],
    ...["--remount-ro", `/proc/${name}`]
  ]),
  "--dev",
  "/dev",
  "--size",
  String(machine.limits.scratchBytes),
  "--perms",
  "1777",
  "--tmpfs",
  "/tmp",
  "--size",
  String(machine.limits.scratchBytes),
  "--perms",
  "1777",
  "--tmpfs",
  "/dev/shm",
  "--die-with-parent",
  "--new-session",
  "--cap-drop",
  "ALL",
  "--clearenv",
  ...[...machine.env].flatMap(([name, value]) => ["--setenv", name, value]),
  "--chdir",
  machine.workingDir,
  ...(seccomp ? ["--seccomp", "4"] : [])
]

export const rlimitPrograms = ["prlimit"]
export const rlimits = (machine: Prepared): ReadonlyArray<string> => [
  "prlimit",
  "--core=0",
  `--nofile=${machine.limits.files}`,
  ...(machine.cgroup === undefined ? [`--nproc=${machine.limits.pids}`, `--data=${dataLimit(machine.limits)}`] : []),
  "--"
]

/** bubblewrap ≥ 0.8 (`--disable-userns`), as root or not. */
export const bubblewrap: Tier = {
  name: "bubblewrap",
  userNamespace: true,
  ownCgroup: false,
  depth: 2,
  isInit: false,
  programs: [...rlimitPrograms, "bwrap"],
  command: (machine) => {
    const filter = seccompProgram()
    return {
      argv: [...rlimits(machine), "bwrap", "--args", "3", "--", ...machine.argv],
      // In a file, since the environment holds secrets and every user can read a command line.
      files: {
        "bwrap.args": bwrapArguments(machine, filter !== undefined).map((word) => `${word}\0`).join(""),
        ...(filter === undefined ? {} : { "seccomp.bpf": filter })
      },
      inputs: filter === undefined ? ["bwrap.args"] : ["bwrap.args", "seccomp.bpf"]
    }
  }
}
