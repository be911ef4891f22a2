import { closedPolicy } from "#http/answers/content-security.ts"
import { asksForPublicRead, readableHeaders } from "#http/answers/cors.ts"
import { errorResponse, failureOf } from "#http/answers/errors.ts"
import { StandardHeaders } from "#http/answers/StandardHeaders.ts"
import { type Caller, CurrentCaller, type Identify, nobody } from "#http/callers/caller.ts"
import { machineBehind } from "#http/callers/machine-caller.ts"
import { rateBuckets } from "#http/callers/rate-buckets.ts"
import { type RouteTable } from "#http/traits/route-table.ts"
import { CurrentRoute, type Route, type Traits } from "#http/traits/Traits.ts"
import { type Settings } from "#src/config/Settings.ts"
import { plans } from "#src/plans/Plan.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { clientAddress } from "#src/shared/client-address.ts"
import { type Failure } from "#src/shared/Failure.ts"
import { newUlid } from "#src/shared/ids.ts"
import { type RateLimit, type RateLimitState } from "#src/shared/RateLimit.ts"
import { type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Cause, Context, Effect, FiberRef, HashMap, Option } from "effect"
import { type observer } from "./observe.ts"

const requestIdPattern = /^[\w.:-]{8,128}$/

/** Probes must not be turned away for knocking often. */
const neverRefused = (method: string, route: Route) => route.traits.probe || asksForPublicRead(method, route)

/** What a crawler or an old browser needs to know of every answer. */
const security = {
  "content-security-policy": closedPolicy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer"
}

/** A page has policies of its own: under `no-referrer`, for one, its forms would come with `Origin: null`. */
const withHeaders = (response: HttpServerResponse.HttpServerResponse, headers: Readonly<Record<string, string>>) => {
  const own = Object.keys(security).flatMap((name) => {
    const value = response.headers[name]
    return value === undefined ? [] : [[name, value]]
  })
  return HttpServerResponse.setHeaders(response, { ...headers, ...Object.fromEntries(own) })
}

/** Shows a failure to a caller who would rather have a page; undefined: whoever asks wants JSON. */
export type FailurePage = (
  request: HttpServerRequest.HttpServerRequest,
  traits: Traits,
  failure: Failure,
  requestId: string
) => HttpServerResponse.HttpServerResponse | undefined

const tooMany = (method: string, { body }: Traits, { limit, retryAfterSeconds }: RateLimitState): Failure => {
  const message = `More than ${limit} requests a minute; try again in ${retryAfterSeconds} seconds`
  const failure = { status: 429, code: "RATE_LIMITED", message, retryAfter: retryAfterSeconds }
  // MCP 2025-11-25, Streamable HTTP: a refused message may be answered with an error of JSON-RPC that has no id.
  return method === "POST" && body === "message" ? { ...failure, jsonRpc: { code: -32000, id: null } } : failure
}

export interface FrontDoor {
  readonly settings: Settings
  readonly identify: Identify
  readonly limits: RateLimit
  readonly observe: ReturnType<typeof observer>
  readonly routes: RouteTable
  readonly failurePage: FailurePage
}

/**
 * Sets what the rest of the fiber runs with. A request has a fiber of its own, so nothing is put back afterwards, which is
 * most of what `Effect.provide` costs.
 */
const enter = (context: Context.Context<never>) => FiberRef.set(FiberRef.currentContext, context)

/**
 * Every request of ours passes here first: it gets an id, its caller is found out, its rate is counted, its failure
 * becomes an envelope, and its answer the headers that all answers carry.
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
          failurePage(request, traits, failure, requestId) ?? errorResponse(traits, failure)
        const answer = (cause: Cause.Cause<unknown>) =>
          Cause.isInterruptedOnly(cause)
            ? Effect.failCause(cause as Cause.Cause<never>)
            : Effect.map(failureOf(request, cause), failed)

        const headersOf = ({ limit, remaining, resetAt }: Pick<RateLimitState, "limit" | "remaining" | "resetAt">) => ({
          ...security,
          ...readableHeaders(request.method, traits),
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

        const admit = (caller: Caller) =>
          Effect.flatMap(limits.consumeOrPass(...rateBuckets(request.method, traits, caller, address)), (rate) => {
            const headers = headersOf(rate)
            if (!rate.allowed && !neverRefused(request.method, route)) {
              return Effect.succeed(withHeaders(failed(tooMany(request.method, traits, rate)), headers))
            }
            return enter(contextOf(caller, headers)).pipe(
              Effect.zipRight(Effect.catchAllCause(app, answer)),
              Effect.map((response) => withHeaders(response, headers))
            )
          })

        // Before the rate is known (the database may be away) an answer still carries the headers, at their widest.
        const fallback = (cause: Cause.Cause<unknown>) => {
          const limit = plans.free.requestsPerMinute
          const headers = headersOf({ limit, remaining: limit, resetAt: Math.ceil(Date.now() / 1000) + 60 })
          return Effect.map(answer(cause), (response) => withHeaders(response, headers))
        }

        // Whoever asks for health is answered in time, also while nobody can be identified.
        const caller = traits.probe ? nobody : identify(request, traits)
        const answered = Effect.catchAllCause(Effect.flatMap(caller, admit), fallback)
        return Effect.zipRight(
          FiberRef.set(FiberRef.currentLogAnnotations, HashMap.make(["requestId", requestId])),
          observe(request, route, answered)
        )
      }
    )
