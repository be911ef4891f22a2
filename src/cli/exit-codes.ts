/** What a command ends with, for scripts (docs/cli.md). */
export const exitCodes = { failed: 1, badFile: 2, notLetIn: 3, notFound: 4, deploymentFailed: 5, noAnswer: 6 } as const

/** What an answer with an error's status ends a command with. */
export const exitCodeOf = (status: number) =>
  status === 401 || status === 403 ? exitCodes.notLetIn : status === 404 ? exitCodes.notFound : exitCodes.failed
