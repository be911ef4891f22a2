import { routeMiddleware } from "#http/traits/route-middleware.ts"
import { type Route, type Traits } from "#http/traits/Traits.ts"
import { HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

/**
 * Open to pages of any origin: for responses that ignore cookies, or are the same for everybody. With `*` a browser
 * does not show the response to a request that had cookies (Fetch standard, CORS protocol).
 */
export const openHeaders = { "access-control-allow-origin": "*" } as const

/** The headers are listed because `*` does not cover `Authorization`, and older browsers don't support it. */
export const preflight = (methods: string) =>
  HttpServerResponse.empty({
    status: 204,
    headers: {
      ...openHeaders,
      "access-control-allow-methods": `${methods}, OPTIONS`,
      "access-control-allow-headers": "Authorization, Content-Type, MCP-Protocol-Version, *",
      "access-control-max-age": "86400"
    }
  })

const readable = {
  ...openHeaders,
  "access-control-expose-headers":
    "ETag, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id, Retry-After, " +
    "X-Hub-Listing-Id, X-Hub-Listing-Tier, X-Hub-Verification-Tier, X-Hub-Health-Score, X-Hub-Url"
}

/** CORS headers for responses to public reads, errors included. */
export const readableHeaders = (method: string, { openToPages }: Traits) =>
  openToPages && (method === "GET" || method === "HEAD") ? readable : {}

/** A preflight for a public read. It is not rate-limited, since a rejection would hide the response to the read. */
export const isPublicReadPreflight = (method: string, { traits }: Route) => method === "OPTIONS" && traits.openToPages

const mayRead = Effect.succeed(preflight("GET, HEAD"))

/** Answers such preflights before all other middleware. */
export const answersPreflights = routeMiddleware<never>(({ method }, route, app) =>
  isPublicReadPreflight(method, route) ? mayRead : app
)
