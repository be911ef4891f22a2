import { routeMiddleware } from "#http/traits/route-middleware.ts"
import { type Route, type Traits } from "#http/traits/Traits.ts"
import { HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

/**
 * Any page may ask: for what looks at no cookies, or shows everybody the same. A browser sends no cookies to an answer
 * of `*`, and shows no answer to a request that had some (Fetch standard, CORS protocol).
 */
export const openHeaders = { "access-control-allow-origin": "*" } as const

/** `*` does not cover `Authorization`, and older browsers don't know it. */
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
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id, Retry-After"
}

/** What the answer to a public read has besides, its failures and refusals too. */
export const readableHeaders = (method: string, { openToPages }: Traits) =>
  openToPages && (method === "GET" || method === "HEAD") ? readable : {}

/** A browser's question whether a page may do a public read. Refused for its number, it would hide the read's answer. */
export const asksForPublicRead = (method: string, { traits }: Route) => method === "OPTIONS" && traits.openToPages

const mayRead = Effect.succeed(preflight("GET, HEAD"))

/** Answers such questions before anything else looks at them. */
export const answersPreflights = routeMiddleware(({ method }, route, app) =>
  asksForPublicRead(method, route) ? mayRead : app
)
