import { errorResponse } from "#http/answers/errors.ts"
import { requireActor } from "#http/callers/Authentication.ts"
import { CurrentCaller } from "#http/callers/caller.ts"
import { CurrentRoute } from "#http/traits/Traits.ts"
import { Unauthorized } from "#src/accounts/Policy.ts"
import { type Settings } from "#src/config/Settings.ts"
import { InsufficientScope } from "#src/oauth/scopes/InsufficientScope.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { codeOf } from "#src/shared/Failure.ts"
import { HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { checkHost, checkOrigin, corsHeaders } from "./origins.ts"
import { mcpChallenge, mcpResource } from "./platform-resource.ts"

/** CORS headers on every response, errors included: a page must be able to read where a 401 sends it to log in. */
const withCors = HttpApp.appendPreResponseHandler(({ headers }, response) =>
  Effect.succeed(HttpServerResponse.setHeaders(response, corsHeaders(headers["origin"])))
)

const tokenInUrl = (url: string) => /[?&]access_token=/i.test(url)

/** Checks Host and Origin, then returns the caller. */
export const enterBy = (settings: Settings) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    yield* checkHost(settings, request.headers)
    yield* checkOrigin(settings, request.headers)
    yield* withCors
    if (tokenInUrl(request.url)) {
      return yield* new Unauthorized({ reason: "A token in the URL is not accepted; send it as Authorization: Bearer" })
    }
    const actor = yield* requireActor
    return { request, actor, address: yield* CallerAddress }
  })

/** RFC 6750 §3.1: the error code of a 401; undefined when no credentials were sent. */
const errorOf = Effect.gen(function*() {
  const { headers, url } = yield* HttpServerRequest.HttpServerRequest
  if (headers["authorization"] === undefined) return undefined
  return tokenInUrl(url) && (yield* CurrentCaller)._tag === "Authenticated" ? "invalid_request" : "invalid_token"
})

/** A 401 says where to get a token. */
const unauthorized = (settings: Settings) =>
  Effect.fn("http.mcp.refuse")(function*({ message }: Unauthorized) {
    const { url } = yield* HttpServerRequest.HttpServerRequest
    return HttpServerResponse.setHeader(
      errorResponse((yield* CurrentRoute).traits, { status: 401, code: codeOf(401), message }),
      "www-authenticate",
      mcpChallenge(settings, url, yield* errorOf)
    )
  })

/** A 403 for too little scope says what to ask for. */
const insufficient = (settings: Settings) =>
  Effect.fn("http.mcp.insufficient")(function*(error: InsufficientScope) {
    const { url } = yield* HttpServerRequest.HttpServerRequest
    return HttpServerResponse.setHeader(
      errorResponse((yield* CurrentRoute).traits, { status: 403, code: codeOf(403), message: error.message }),
      "www-authenticate",
      error.challenge(mcpResource(settings, url))
    )
  })

/** Answers a missing or invalid credential, and a token with too little scope, with a challenge. */
export const challenging = (settings: Settings) =>
<E, R>(
  route: Effect.Effect<HttpServerResponse.HttpServerResponse, E | Unauthorized | InsufficientScope, R>
) =>
  route.pipe(
    Effect.catchIf((error) => error instanceof Unauthorized, unauthorized(settings)),
    Effect.catchIf((error) => error instanceof InsufficientScope, insufficient(settings))
  )

export const preflightBy = (settings: Settings) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
    checkOrigin(settings, headers).pipe(
      Effect.zipRight(withCors),
      Effect.as(HttpServerResponse.empty({ status: 204 }))
    ))
