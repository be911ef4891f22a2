import type { Limits } from "./limits.ts"
import type { User } from "./user.ts"

/** A machine as its tier sees it: everything checked and resolved, the root file system ready below `dir`. */
export interface Prepared {
  readonly name: string
  readonly hostname: string
  readonly dir: string
  /** Mounted there in the keeper's mount namespace. */
  readonly root: string
  readonly readOnly: boolean
  readonly argv: ReadonlyArray<string>
  readonly env: ReadonlyMap<string, string>
  readonly workingDir: string
  readonly user: User
  readonly limits: Limits
  /** This machine's cgroup below each hierarchy's root, or undefined where cgroups are out of reach. */
  readonly cgroup: string | undefined
}

export interface Command {
  readonly argv: ReadonlyArray<string>
  /** Written into the machine's directory before the start: path below it → content. */
  readonly files: Readonly<Record<string, string | Uint8Array>>
  /** The files that the command reads at descriptors 3, 4, … */
  readonly inputs: ReadonlyArray<string>
}

/** One way to isolate a process. Everything around it is the same for all tiers. */
export interface Tier {
  readonly name: "runc" | "bubblewrap" | "util-linux"
  /** Whether keeper and machine run in a user namespace; runc needs the real root. */
  readonly userNamespace: boolean
  /** runc makes and joins the cgroup itself; for the others we do. */
  readonly ownCgroup: boolean
  readonly depth: number
  readonly isInit: boolean
  /** What a start needs: names of programs, or absolute paths. */
  readonly programs: ReadonlyArray<string>
  readonly command: (machine: Prepared) => Command
}

/**
 * Parts of /proc that are the host's in every namespace. Their files belong to the real root, and to the kernel a
 * machine of a platform run as root has that uid: file modes alone would let it write core_pattern.
 */
export const procParts = {
  readOnly: ["bus", "fs", "irq", "sys", "sysrq-trigger"],
  emptyFiles: ["kcore", "keys", "key-users", "latency_stats", "sched_debug", "timer_list"],
  emptyDirectories: ["acpi", "scsi"]
} as const
