import type { Cgroups } from "./cgroups.ts"
import { seccompProgram } from "./seccomp.ts"

/** Lines of /proc/self/status (proc(5)) as a machine sees them. */
type Status = ReadonlyMap<string, string>

interface Wall {
  readonly name: string
  /** Whether a trial machine's status shows that the wall stands. */
  readonly stands: (status: Status) => boolean
}

const capabilitySets = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]

/**
 * What every tier must do around a machine beside the namespaces, without which none starts. In production a tier that
 * lacks one of them is taken only when it is named.
 */
const walls: ReadonlyArray<Wall> = [
  { name: "no capabilities", stands: (status) => capabilitySets.every((set) => /^0+$/.test(status.get(set) ?? "")) },
  { name: "no new privileges", stands: (status) => status.get("NoNewPrivs") === "1" },
  // A platform that is filtered itself (in a container) hands its filter down: ours must be there, too.
  { name: "seccomp", stands: (status) => seccompProgram() !== undefined && status.get("Seccomp") === "2" }
]

const parse = (lines: ReadonlyArray<string>): Status =>
  new Map(lines.map((line) => {
    const [name = "", value = ""] = line.split(":")
    return [name, value.trim()] as const
  }))

/** By name: those that a trial machine found around itself, and those it did not. */
export interface Walls {
  readonly standing: ReadonlyArray<string>
  readonly lacking: ReadonlyArray<string>
}

export const wallsIn = (lines: ReadonlyArray<string>): Walls => {
  const status = parse(lines)
  return {
    standing: walls.filter(({ stands }) => stands(status)).map(({ name }) => name),
    lacking: walls.filter(({ stands }) => !stands(status)).map(({ name }) => name)
  }
}

/** What of `AUTH_URL` a machine reaches: what it has a use for, all of it (for that reason), or nothing. */
export type AuthReach = "own" | "none" | { readonly all: string }

const network = (auth: AuthReach) =>
  auth === "none"
    ? "private network, no egress"
    : auth === "own"
    ? "private network, no egress but to AUTH_URL: introspection, signing keys, metadata, its own configuration"
    : "private network, no egress but to AUTH_URL: all of it"

/** What is told of a host, in `/v1/health` and at the start: what holds, and what other hosts have and this has not. */
export const describe = (
  { auth, cgroups, overlay, walls }: {
    readonly auth: AuthReach
    readonly cgroups: Cgroups | undefined
    readonly overlay: boolean
    readonly walls: Walls
  }
) => ({
  enforces: [
    "own mounts, processes, IPC and host name",
    network(auth),
    ...walls.standing,
    overlay ? "copy-on-write root" : "read-only root",
    cgroups === undefined
      ? "memory and processes by rlimits and a watch"
      : `memory, CPU and process limits (cgroup v${cgroups.version})`
  ],
  lacks: [
    ...walls.lacking,
    ...(typeof auth === "string" ? [] : [`a filter on the way to AUTH_URL (${auth.all})`]),
    ...(cgroups === undefined ? ["a CPU limit (no cgroups can be made here)"] : [])
  ]
})
