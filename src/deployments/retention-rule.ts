import { type PlanName, plans } from "#src/plans/Plan.ts"
import { Array } from "effect"

export interface Version {
  readonly version: number
  /** Whether it ever served. */
  readonly ran: boolean
  readonly active: boolean
}

/** Versions that can be rolled back to, with the one that serves: the newest `count` others that ever served. */
export const keptVersions = (versions: ReadonlyArray<Version>, count: number): ReadonlySet<number> => {
  const ran = versions.filter((version) => version.ran).sort((a, b) => b.version - a.version)
  const others = ran.filter((version) => !version.active).slice(0, count)
  return new Set([...others, ...ran.filter((version) => version.active)].map(({ version }) => version))
}

/** A version of a server, as the rule has to know it. */
export interface KeptVersion extends Version {
  /** Of its deployment: its machine has the same name. */
  readonly id: string
  readonly serverId: string
  readonly inFlight: boolean
  readonly keptForLogs: boolean
  readonly plan: PlanName
  readonly deploymentRetentionCount: number
}

/**
 * The versions whose images are needed: those that run or can be rolled back to, are on their way, or have a machine, which
 * stands on its image: `standing` has the names of those that are there.
 */
export const neededVersions = <V extends KeptVersion>(
  versions: ReadonlyArray<V>,
  standing: ReadonlySet<string> = new Set()
) =>
  Object.values(Array.groupBy(versions, ({ serverId }) => serverId)).flatMap((ofServer) => {
    const [first] = ofServer
    const kept = keptVersions(ofServer, keptCount(plans[first.plan], first))
    return ofServer.filter(({ id, inFlight, keptForLogs, version }) =>
      inFlight || keptForLogs || kept.has(version) || standing.has(id)
    )
  })

/** What the server asks for, unless its account's plan keeps fewer. */
export const keptCount = (
  plan: { readonly deploymentsKept: number },
  server: { readonly deploymentRetentionCount: number }
) => Math.min(plan.deploymentsKept, server.deploymentRetentionCount)
