/** What a command ends with, for scripts (docs/cli.md). */
export const exitCodes = { failed: 1, badFile: 2, notLetIn: 3, notFound: 4, deploymentFailed: 5, noAnswer: 6 } as const
