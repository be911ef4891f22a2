/** Percent of a limit of the period at which its owner is told. */
export const told = [50, 80, 100] as const
