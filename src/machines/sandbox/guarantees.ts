import type { Cgroups } from "./cgroups.ts"
import { seccompProgram } from "./seccomp.ts"

/** Lines of /proc/self/status (proc(5)) as a machine sees them. */
type Status = ReadonlyMap<string, string>

interface Guarantee {
  readonly name: string
  /** Whether a trial machine's status shows it. */
  readonly isMet: (status: Status) => boolean
}

const capabilitySets = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"]

/**
 * What every tier should provide besides the namespaces, which no machine starts without. In production a tier that
 * lacks one of these is used only when it is named.
 */
const guarantees: ReadonlyArray<Guarantee> = [
  { name: "no capabilities", isMet: (status) => capabilitySets.every((set) => /^0+$/.test(status.get(set) ?? "")) },
  { name: "no new privileges", isMet: (status) => status.get("NoNewPrivs") === "1" },
  // Machines inherit the filter of a platform in a container: the status alone does not show that we have one.
  { name: "seccomp", isMet: (status) => seccompProgram() !== undefined && status.get("Seccomp") === "2" }
]

const parse = (lines: ReadonlyArray<string>): Status =>
  new Map(lines.map((line) => {
    const [name = "", value = ""] = line.split(":")
    return [name, value.trim()] as const
  }))

/** Names of the guarantees that a trial machine had, and of those that it lacked. */
export interface Isolation {
  readonly met: ReadonlyArray<string>
  readonly lacking: ReadonlyArray<string>
}

export const isolationIn = (lines: ReadonlyArray<string>): Isolation => {
  const status = parse(lines)
  return {
    met: guarantees.filter(({ isMet }) => isMet(status)).map(({ name }) => name),
    lacking: guarantees.filter(({ isMet }) => !isMet(status)).map(({ name }) => name)
  }
}

/** What a machine reaches of `AUTH_URL`: only the endpoints it needs, nothing, or everything (with the reason). */
export type AuthReach = "own" | "none" | { readonly all: string }

const network = (auth: AuthReach) =>
  `private network, egress to hosts that its server allows and that are public${
    auth === "none"
      ? ""
      : `, and to AUTH_URL: ${
        auth === "own" ? "introspection, signing keys, metadata, its own configuration" : "all of it"
      }`
  }`

/** What `/v1/health` and the log report of this host: what it enforces, and what it lacks and other hosts have. */
export const describe = (
  { auth, cgroups, isolation, overlay }: {
    readonly auth: AuthReach
    readonly cgroups: Cgroups | undefined
    readonly isolation: Isolation
    readonly overlay: boolean
  }
) => ({
  enforces: [
    "own mounts, processes, IPC and host name",
    network(auth),
    ...isolation.met,
    overlay ? "copy-on-write root" : "read-only root",
    cgroups === undefined
      ? "memory and processes by rlimits and a watch"
      : `memory, CPU and process limits (cgroup v${cgroups.version})`
  ],
  lacks: [
    ...isolation.lacking,
    ...(typeof auth === "string" ? [] : [`a filter on the way to AUTH_URL (${auth.all})`]),
    ...(cgroups === undefined ? ["a CPU limit (no cgroups can be made here)"] : [])
  ]
})
