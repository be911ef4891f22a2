/** The path of an origin-form target. Queries are not logged: people put secrets there. */
export const pathOf = (target: string) => target.split("?", 1)[0] ?? ""
