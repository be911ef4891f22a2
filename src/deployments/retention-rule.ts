import { type PlanName, plans } from "#src/plans/Plan.ts"
import { Array } from "effect"

export interface Version {
  readonly version: number
  /** Whether it ever served. */
  readonly ran: boolean
  readonly active: boolean
  /** The most versions that a plan of the account's kept since this one was deployed, at a deployment of the server. */
  readonly keptByPlan: number
}

/**
 * Versions to keep: the active one, and for rollbacks the newest others that ever served, as many as the server's own
 * count and the plan say. Those that a larger plan kept are not lost with it: new deployments push them out, one by one
 * (docs/decisions/smaller-plans.md).
 */
export const keptVersions = (
  versions: ReadonlyArray<Version>,
  plan: { readonly deploymentsKept: number },
  server: { readonly deploymentRetentionCount: number }
): ReadonlySet<number> => {
  const ran = versions.filter((version) => version.ran).sort((a, b) => b.version - a.version)
  const others = ran.filter((version) => !version.active).filter(({ keptByPlan }, rank) =>
    rank < Math.min(server.deploymentRetentionCount, Math.max(plan.deploymentsKept, keptByPlan))
  )
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
    const kept = keptVersions(ofServer, plans[first.plan], first)
    return ofServer.filter(({ id, inFlight, keptForLogs, version }) =>
      inFlight || keptForLogs || kept.has(version) || machines.has(id)
    )
  })
