/** What a command ends with, for scripts (docs/cli.md). */
export const exitCodes = {
  failed: 1,
  badFile: 2,
  notLetIn: 3,
  notFound: 4,
  deploymentFailed: 5,
  noAnswer: 6,
  planLimit: 7
} as const

/** The codes of errors, in the case that all of an installation's doors have in common. */
const ofErrors: Readonly<Record<string, number>> = {
  plan_limit_reached: exitCodes.planLimit,
  unauthorized: exitCodes.notLetIn,
  forbidden: exitCodes.notLetIn,
  not_found: exitCodes.notFound
}
const ofStatuses: Readonly<Record<number, number>> = {
  401: exitCodes.notLetIn,
  403: exitCodes.notLetIn,
  404: exitCodes.notFound
}

/** What an error of an installation ends a command with: by its code, else by the status it was answered with. */
export const exitCodeOf = (status: number | undefined, code = ""): number =>
  ofErrors[code.toLowerCase()] ?? ofStatuses[status ?? 0] ?? exitCodes.failed
