import { closedPolicy } from "#http/answers/content-security.ts"
import { isPublicReadPreflight, readableHeaders } from "#http/answers/cors.ts"
import { errorResponse, failureOf } from "#http/answers/errors.ts"
import { uncountedRate } from "#http/answers/rate-headers.ts"
import { StandardHeaders } from "#http/answers/StandardHeaders.ts"
import { anonymous, type Caller, CurrentCaller, type Identify } from "#http/callers/caller.ts"
import { machineBehind } from "#http/callers/machine-caller.ts"
import { rateBuckets, rateOfHubKey } from "#http/callers/rate-buckets.ts"
import { type RouteTable } from "#http/traits/route-table.ts"
import { CurrentRoute, type Route, type Traits } from "#http/traits/Traits.ts"
import { type Settings } from "#src/config/Settings.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { clientAddress } from "#src/shared/client-address.ts"
import { type Failure } from "#src/shared/Failure.ts"
import { newUlid } from "#src/shared/ids.ts"
import { type RateLimit, type RateLimitState } from "#src/shared/RateLimit.ts"
import { type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Cause, Context, Effect, FiberRef, HashMap, Option } from "effect"
import { deprecationHeaders } from "./deprecation.ts"
import { messageFailure } from "./message-failure.ts"
import { type observer } from "./observe.ts"

const requestIdPattern = /^[\w.:-]{8,128}$/

/** Health probes and preflights are never rate-limited. */
const skipsRateLimit = (method: string, route: Route) => route.traits.probe || isPublicReadPreflight(method, route)

/** Security headers of every response. */
const security = {
  "content-security-policy": closedPolicy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer"
}

/** A page may set its own policies: with `no-referrer`, for example, its forms would send `Origin: null`. */
const withHeaders = (response: HttpServerResponse.HttpServerResponse, headers: Readonly<Record<string, string>>) => {
  const ownHeaders = Object.keys(security).flatMap((name) => {
    const value = response.headers[name]
    return value === undefined ? [] : [[name, value]]
  })
  return HttpServerResponse.setHeaders(response, { ...headers, ...Object.fromEntries(ownHeaders) })
}

/** A failure as a page; undefined when the caller prefers JSON. */
export type FailurePage = (
  request: HttpServerRequest.HttpServerRequest,
  traits: Traits,
  failure: Failure,
  requestId: string
) => HttpServerResponse.HttpServerResponse | undefined

const tooMany = ({ limit, retryAfterSeconds }: RateLimitState): Failure => ({
  status: 429,
  code: "RATE_LIMITED",
  message: `More than ${limit} requests a minute; try again in ${retryAfterSeconds} seconds`,
  retryAfter: retryAfterSeconds
})

export interface FrontDoor {
  readonly settings: Settings
  readonly identify: Identify
  readonly limits: RateLimit
  readonly observe: ReturnType<typeof observer>
  readonly routes: RouteTable
  readonly failurePage: FailurePage
}

/**
 * Sets the context for the rest of the fiber. Each request has its own fiber, so nothing is restored afterwards, which
 * is most of the cost of `Effect.provide`.
 */
const enter = (context: Context.Context<never>) => FiberRef.set(FiberRef.currentContext, context)

/**
 * The outermost middleware of the platform's own routes: it assigns a request id, identifies the caller, applies the
 * rate limit, turns failures into envelopes, and adds the headers of every response.
 */
export const frontDoor =
  ({ failurePage, identify, limits, observe, routes, settings }: FrontDoor) => <E, R>(app: HttpApp.Default<E, R>) =>
    Effect.withFiberRuntime<HttpServerResponse.HttpServerResponse, never, R | HttpServerRequest.HttpServerRequest>(
      (fiber) => {
        const request = Context.unsafeGet(fiber.currentContext, HttpServerRequest.HttpServerRequest)
        const route = routes(request.method, request.url)
        const { traits } = route
        const sent = request.headers["x-request-id"]
        const requestId = sent !== undefined && requestIdPattern.test(sent) ? sent : newUlid()
        const machine = machineBehind(NodeHttpServerRequest.toIncomingMessage(request), settings.trustProxy)
        const address = machine ?? clientAddress(
          Option.getOrUndefined(request.remoteAddress),
          request.headers["x-forwarded-for"],
          settings.trustProxy
        )
        const failed = (failure: Failure) =>
          Effect.map(
            messageFailure(request, traits, failure),
            (told) => failurePage(request, traits, told, requestId) ?? errorResponse(traits, told)
          )
        const answer = (cause: Cause.Cause<unknown>) =>
          Cause.isInterruptedOnly(cause)
            ? Effect.failCause(cause as Cause.Cause<never>)
            : Effect.flatMap(failureOf(request, traits, cause), failed)

        const headersOf = ({ limit, remaining, resetAt }: Pick<RateLimitState, "limit" | "remaining" | "resetAt">) => ({
          ...security,
          ...readableHeaders(request.method, traits),
          ...deprecationHeaders(route, request.url),
          "x-request-id": requestId,
          "x-ratelimit-limit": String(limit),
          "x-ratelimit-remaining": String(remaining),
          "x-ratelimit-reset": String(resetAt)
        })

        const contextOf = (caller: Caller, headers: Readonly<Record<string, string>>) =>
          Context.merge(
            fiber.currentContext,
            Context.make(CurrentRoute, route).pipe(
              Context.add(CurrentCaller, caller),
              Context.add(CallerAddress, address),
              Context.add(StandardHeaders, headers)
            )
          )

        const rateOf = (caller: Caller) => {
          const known = rateOfHubKey(caller)
          if (known !== undefined) return Effect.succeed(known)
          const buckets = rateBuckets(request.method, traits, caller, address, settings.hubRateLimit)
          return traits.rate === "hub" && !skipsRateLimit(request.method, route)
            ? limits.consume(...buckets)
            : limits.consumeOrPass(...buckets)
        }

        const admit = (caller: Caller) =>
          Effect.flatMap(rateOf(caller), (rate) => {
            const headers = headersOf(rate)
            if (!rate.allowed && !skipsRateLimit(request.method, route)) {
              return Effect.map(failed(tooMany(rate)), (response) => withHeaders(response, headers))
            }
            const answered = caller._tag === "Refused" ? Effect.fail(caller.error) : app
            return enter(contextOf(caller, headers)).pipe(
              Effect.zipRight(Effect.catchAllCause(answered, answer)),
              Effect.map((response) => withHeaders(response, headers))
            )
          })

        // Without a known rate (the database may be down) the response still has the headers, with the full limit.
        const fallback = (cause: Cause.Cause<unknown>) => {
          const headers = headersOf(uncountedRate())
          return Effect.map(answer(cause), (response) => withHeaders(response, headers))
        }

        // Health answers in time, also while callers can't be identified.
        const identified = traits.probe ? anonymous : identify(request, traits)
        const caller = traits.ahead === undefined ? identified : Effect.zipRight(traits.ahead(request), identified)
        const response = Effect.catchAllCause(Effect.flatMap(caller, admit), fallback)
        return Effect.zipRight(
          FiberRef.set(FiberRef.currentLogAnnotations, HashMap.make(["requestId", requestId])),
          observe(request, route, response)
        )
      }
    )
