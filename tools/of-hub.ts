import { asBadQuery } from "#src/shared/query-parameters.ts"

/** What tools of the hub have in common: the spelling and the codes of the hub's tables (contract: Hub error codes). */
export const ofHub = { toolset: "hub", lowerCaseCodes: true, wrongQuery: asBadQuery } as const
