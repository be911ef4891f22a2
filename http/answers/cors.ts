import { type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
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

/** What an agent in a page reads: the directory, the registry, the templates, the API's description and its health. */
const publicReads = new RegExp(
  "^/(" + [
    "v1/directory(/[^/?]*)?",
    "\\.well-known/mcp-server-metadata",
    "v0\\.1/servers(/[^?]*)?",
    "hub/templates/[^/?]*\\.csv",
    "openapi\\.json",
    "v1/health"
  ].join("|") + ")(\\?|$)"
)

const readable = {
  ...openHeaders,
  "access-control-expose-headers":
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id, Retry-After"
}

/** What the answer to a public read has besides, its failures and refusals too; writes at the same path have nothing. */
export const readableHeaders = ({ method, url }: HttpServerRequest.HttpServerRequest) =>
  (method === "GET" || method === "HEAD") && publicReads.test(url) ? readable : {}

/** A browser's question whether a page may do a public read. Refused for its number, it would hide the read's answer. */
export const asksForPublicRead = ({ method, url }: HttpServerRequest.HttpServerRequest) =>
  method === "OPTIONS" && publicReads.test(url)

const mayRead = preflight("GET, HEAD")

/** Answers such questions before anything else looks at them. */
export const answersPreflights = <E, R>(app: HttpApp.Default<E, R>) =>
  Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    (request) => asksForPublicRead(request) ? Effect.succeed(mayRead) : app
  )
