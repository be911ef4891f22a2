/** What a thrown value says. */
export const messageOf = (error: unknown) => error instanceof Error ? error.message : String(error)
