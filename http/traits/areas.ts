import { asInvalidInput } from "#src/hub/ListingAnalytics.ts"
import { asBadQuery } from "#src/shared/query-parameters.ts"
import { type Traits } from "./Traits.ts"

/**
 * Traits of everything below a path, also of unknown paths: the longest prefix counts. The contract ("Conventions")
 * defines the spelling of codes, and "Hub error codes by endpoint" the code of a query that does not fit.
 */
const areas: Readonly<Record<string, Partial<Traits>>> = {
  "/v1/hub": { codes: "lower", wrongQuery: asBadQuery },
  "/v1/directory": { codes: "lower" },
  "/v0.1": { credential: "hub", openToPages: true },
  "/hub/templates": { openToPages: true },
  "/hub/listings": { codes: "lower", failure: "page" },
  "/listings": { codes: "lower", failure: "page" },
  "/api/v1": { codes: "lower" },
  "/api/v1/hub": { codes: "lower", wrongQuery: asBadQuery },
  "/api/v1/hub/analytics": { codes: "lower", wrongQuery: asInvalidInput },
  "/.well-known/mcp-skills": { wrongQuery: asBadQuery },
  "/api/v1/oauth": { codes: "oauth" },
  "/api/v1/oauth/authorize": { codes: "lower", failure: "page" },
  "/billing": { failure: "page", body: "form" },
  "/oauth": { failure: "page", body: "form" }
}

const longestFirst = Object.entries(areas).sort(([one], [other]) => other.length - one.length)

const isBelow = (path: string, area: string) =>
  path.startsWith(area) && (path.length === area.length || path[area.length] === "/")

/** Clients try several paths for an OAuth document (RFC 8414 §3, RFC 9728 §3.1). */
const isDiscovery = (path: string) =>
  path.includes("/.well-known/oauth-") || path.includes("/.well-known/openid-configuration")

/** The traits of a path's area. */
export const areaOf = (path: string): Partial<Traits> => ({
  ...longestFirst.find(([area]) => isBelow(path, area))?.[1],
  ...(isDiscovery(path) ? { rate: "discovery" } : {}),
  ...(path.startsWith("/.well-known/mcp-") ? { codes: "lower" } : {})
})
