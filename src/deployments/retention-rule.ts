import { type PlanName, plans } from "#src/plans/Plan.ts"
import { Array } from "effect"

export interface Version {
  readonly version: number
  /** Whether it ever served. */
  readonly ran: boolean
  readonly active: boolean
}

/** Versions to keep: the active one, and for rollbacks the newest `count` others that ever served. */
export const keptVersions = (versions: ReadonlyArray<Version>, count: number): ReadonlySet<number> => {
  const ran = versions.filter((version) => version.ran).sort((a, b) => b.version - a.version)
  const others = ran.filter((version) => !version.active).slice(0, count)
  return new Set([...others, ...ran.filter((version) => version.active)].map(({ version }) => version))
}

/** The fields of a server's version that the rule needs. */
export interface KeptVersion extends Version {
  /** The deployment's id, which is also the machine's name. */
  readonly id: string
  readonly serverId: string
  readonly inFlight: boolean
  readonly keptForLogs: boolean
  readonly plan: PlanName
  readonly deploymentRetentionCount: number
}

/**
 * The versions whose images are needed: those that run, can be rolled back to, are being deployed, or have an existing
 * machine, which uses its image. `machines` has the names of those machines.
 */
export const neededVersions = <V extends KeptVersion>(
  versions: ReadonlyArray<V>,
  machines: ReadonlySet<string> = new Set()
) =>
  Object.values(Array.groupBy(versions, ({ serverId }) => serverId)).flatMap((ofServer) => {
    const [first] = ofServer
    const kept = keptVersions(ofServer, keptCount(plans[first.plan], first))
    return ofServer.filter(({ id, inFlight, keptForLogs, version }) =>
      inFlight || keptForLogs || kept.has(version) || machines.has(id)
    )
  })

/** The server's own retention count, limited by its account's plan. */
export const keptCount = (
  plan: { readonly deploymentsKept: number },
  server: { readonly deploymentRetentionCount: number }
) => Math.min(plan.deploymentsKept, server.deploymentRetentionCount)
