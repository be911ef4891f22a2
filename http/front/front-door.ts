import { closedPolicy } from "#http/answers/content-security.ts"
import { asksForPublicRead, readableHeaders } from "#http/answers/cors.ts"
import { errorResponse, failureOf } from "#http/answers/errors.ts"
import { StandardHeaders } from "#http/answers/StandardHeaders.ts"
import { isMcp } from "#http/api/middleware/bodies.ts"
import { CurrentCaller, identify } from "#http/callers/caller.ts"
import { machineBehind } from "#http/callers/machine-caller.ts"
import { count, rateBuckets } from "#http/callers/rate-buckets.ts"
import { failurePage, wantsPage } from "#http/pages/failure.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { plans } from "#src/plans/Plan.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { clientAddress } from "#src/shared/client-address.ts"
import { type Failure } from "#src/shared/Failure.ts"
import { newUlid } from "#src/shared/ids.ts"
import { RateLimit, type RateLimitState } from "#src/shared/RateLimit.ts"
import { type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Cause, Duration, Effect, Option } from "effect"

const requestIdPattern = /^[\w.:-]{8,128}$/

const isProbe = ({ url }: HttpServerRequest.HttpServerRequest) => /^\/v1\/health(\?|$)/.test(url)

/** Probes must not be turned away for knocking often. */
const neverRefused = (request: HttpServerRequest.HttpServerRequest) => isProbe(request) || asksForPublicRead(request)

/** What a crawler or an old browser needs to know of every answer. */
const security = {
  "content-security-policy": closedPolicy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer"
}

/** A page has policies of its own: under `no-referrer`, for one, its forms would come with `Origin: null`. */
const carrying = (response: HttpServerResponse.HttpServerResponse, headers: Readonly<Record<string, string>>) => {
  const own = Object.keys(security).flatMap((name) => {
    const value = response.headers[name]
    return value === undefined ? [] : [[name, value]]
  })
  return HttpServerResponse.setHeaders(response, { ...headers, ...Object.fromEntries(own) })
}

/** People get a page, programs an envelope. */
const failed = (request: HttpServerRequest.HttpServerRequest, failure: Failure, requestId: string) =>
  wantsPage(request) ? failurePage(failure, requestId) : errorResponse(request.url, failure)

const tooMany = (
  { method, url }: HttpServerRequest.HttpServerRequest,
  { limit, retryAfterSeconds }: RateLimitState
) => {
  const message = `More than ${limit} requests a minute; try again in ${retryAfterSeconds} seconds`
  const failure = { status: 429, code: "RATE_LIMITED", message, retryAfter: retryAfterSeconds }
  // MCP 2025-11-25, Streamable HTTP: a refused message may be answered with an error of JSON-RPC that has no id.
  return method === "POST" && isMcp(url) ? { ...failure, jsonRpc: { code: -32000, id: null } } : failure
}

/**
 * Every request of ours passes here first: it gets an id, its caller is found out, its rate is counted, its failure
 * becomes an envelope, and its answer the headers that all answers carry.
 */
export const frontDoor = <E, R>(app: HttpApp.Default<E, R>) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const settings = yield* CurrentSettings
    const sent = request.headers["x-request-id"]
    const requestId = sent !== undefined && requestIdPattern.test(sent) ? sent : newUlid()
    const machine = machineBehind(NodeHttpServerRequest.toIncomingMessage(request), settings.trustProxy)
    const address = machine ?? clientAddress(
      Option.getOrUndefined(request.remoteAddress),
      request.headers["x-forwarded-for"],
      settings.trustProxy
    )
    const always = { ...security, ...readableHeaders(request), "x-request-id": requestId }

    const admitted = Effect.gen(function*() {
      // Whoever asks for health is answered in time, also while nobody can be identified.
      const caller = isProbe(request) ? { _tag: "Anonymous" as const } : yield* identify(request)
      const rate = yield* count(yield* RateLimit, rateBuckets(request, caller, address))
      const headers = {
        ...always,
        "x-ratelimit-limit": String(rate.limit),
        "x-ratelimit-remaining": String(rate.remaining),
        "x-ratelimit-reset": String(rate.resetAt)
      }
      if (!rate.allowed && !neverRefused(request)) {
        return carrying(failed(request, tooMany(request, rate), requestId), headers)
      }
      const response = yield* app.pipe(
        Effect.catchAllCause((cause) => answer(request, cause, requestId)),
        Effect.provideService(CurrentCaller, caller),
        Effect.provideService(CallerAddress, address),
        Effect.provideService(StandardHeaders, headers)
      )
      return carrying(response, headers)
    })

    // Before the rate is known (the database may be away) an answer still carries the headers, at their widest.
    const fallback = (cause: Cause.Cause<unknown>) =>
      Effect.map(answer(request, cause, requestId), (response) =>
        carrying(response, {
          ...always,
          "x-ratelimit-limit": String(plans.free.requestsPerMinute),
          "x-ratelimit-remaining": String(plans.free.requestsPerMinute),
          "x-ratelimit-reset": String(Math.ceil(Date.now() / 1000) + 60)
        }))

    return yield* admitted.pipe(
      Effect.catchAllCause(fallback),
      Effect.timed,
      Effect.tap(([took, { status }]) => told(request, status, took)),
      Effect.map(([, response]) => response),
      Effect.annotateLogs("requestId", requestId)
    )
  })

/** One line a request, at debug level. The query stays out of it: people put secrets there. */
const told = ({ method, url }: HttpServerRequest.HttpServerRequest, status: number, took: Duration.Duration) =>
  Effect.logDebug(`${method} ${url.split("?", 1)[0]} ${status}`).pipe(
    Effect.annotateLogs("milliseconds", Math.round(Duration.toMillis(took)))
  )

const answer = (request: HttpServerRequest.HttpServerRequest, cause: Cause.Cause<unknown>, requestId: string) =>
  Cause.isInterruptedOnly(cause)
    ? Effect.failCause(cause as Cause.Cause<never>)
    : Effect.map(failureOf(request, cause), (failure) => failed(request, failure, requestId))
