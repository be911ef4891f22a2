/** The path of an origin-form target. The query stays out of whatever is logged: people put secrets there. */
export const pathOf = (target: string) => target.split("?", 1)[0] ?? ""
