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

/** What the server asks for, unless its account's plan keeps fewer. */
export const keptCount = (
  plan: { readonly deploymentsKept: number },
  server: { readonly deploymentRetentionCount: number }
) => Math.min(plan.deploymentsKept, server.deploymentRetentionCount)
