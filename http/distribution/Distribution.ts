import { rateHeaders } from "#http/answers/rate-headers.ts"
import { machineBehind } from "#http/callers/machine-caller.ts"
import { discoveryBucket } from "#http/callers/rate-buckets.ts"
import { measureRequest } from "#http/connection/request-metrics.ts"
import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { CurrentSettings, measures } from "#src/config/Settings.ts"
import { plans } from "#src/plans/Plan.ts"
import { clientAddress } from "#src/shared/client-address.ts"
import { errorOf } from "#src/shared/Failure.ts"
import { newUlid } from "#src/shared/ids.ts"
import { describeOutage, reportOutage } from "#src/shared/outage.ts"
import { RateLimit, type RateLimitRule, type RateLimitState } from "#src/shared/RateLimit.ts"
import { Refusal, refused } from "#src/uploads/Refusal.ts"
import { type Cause, Effect, LogLevel, Runtime } from "effect"
import { type IncomingMessage, type RequestListener } from "node:http"
import { makeBlobs } from "./blobs.ts"
import { type Endpoint, endpointOf } from "./endpoint.ts"
import { makeManifests } from "./manifests.ts"
import { makePusher } from "./pusher.ts"
import { errorReply, json, type Reply, sendReply } from "./reply.ts"
import { cutWhenSilent } from "./silence.ts"

/** A push takes four requests for each layer: it has a rate of its own. */
const leastPerMinute = 3_000

const tooMany = ({ limit, retryAfterSeconds }: RateLimitState) =>
  errorReply(
    refused("TOOMANYREQUESTS", `More than ${limit} requests a minute; try again in ${retryAfterSeconds} seconds`),
    { "Retry-After": retryAfterSeconds }
  )

/**
 * The registry at `/v2` (OCI distribution specification), as plain Node like the gateway: bodies have gigabytes, and none
 * of the API's limits for bodies and time is for them (docs/decisions/uploads.md).
 */
export const makeDistribution = Effect.gen(function*() {
  const settings = yield* CurrentSettings
  const limits = yield* RateLimit
  const pusher = yield* makePusher
  const blobs = yield* makeBlobs
  const manifests = yield* makeManifests
  const run = Runtime.runPromise(yield* Effect.runtime())
  const level = settings.accessLog ? LogLevel.Info : LogLevel.Debug

  const dispatch = (
    req: IncomingMessage,
    endpoint: Endpoint,
    query: URLSearchParams
  ): Effect.Effect<Reply, Refusal, CurrentActor> => {
    switch (endpoint._tag) {
      case "Base":
        return Effect.succeed(json(200, {}))
      case "Blob":
        return blobs.blob(req, endpoint.name, endpoint.at)
      case "Uploads":
        return blobs.begin(req, endpoint.name, query)
      case "Upload":
        return blobs.upload(req, endpoint.name, endpoint.at, query)
      case "Manifest":
        return manifests.manifest(req, endpoint.name, endpoint.at)
      case "Tags":
        return manifests.tags(req, endpoint.name, query)
      case "Referrers":
        return manifests.referrers(req, endpoint.name)
    }
  }

  const failed = (cause: Cause.Cause<unknown>) => {
    const error = errorOf(cause)
    if (error instanceof Refusal) return Effect.succeed(errorReply(error))
    const outage = describeOutage(error)
    return outage === undefined
      ? Effect.as(
        Effect.logError("A request to the registry failed unexpectedly", cause),
        errorReply(refused("INTERNAL_ERROR", "Something went wrong on our side; the log has it"))
      )
      : Effect.as(reportOutage(error), errorReply(refused("UNAVAILABLE", outage.message)))
  }

  /** Whatever comes of it is an answer, with the headers of its rate. */
  const within = (rule: RateLimitRule, work: Effect.Effect<Reply, Refusal>) =>
    Effect.flatMap(
      limits.consumeOrPass(rule),
      (state) =>
        (state.allowed ? Effect.catchAllCause(work, failed) : Effect.succeed(tooMany(state))).pipe(
          Effect.map((reply) => ({ ...reply, headers: { ...rateHeaders(state), ...reply.headers } }))
        )
    )

  const reply = (req: IncomingMessage): Effect.Effect<Reply, Refusal> =>
    Effect.gen(function*() {
      if (machineBehind(req, settings.trustProxy) !== undefined) {
        return yield* refused("DENIED", "From inside a machine the registry can't be reached")
      }
      const target = req.url ?? "/"
      const address = clientAddress(
        req.socket.remoteAddress,
        req.headers["x-forwarded-for"]?.toString(),
        settings.trustProxy
      )
      const actor = yield* Effect.either(pusher(req))
      // Every client asks without a credential first.
      if (actor._tag === "Left") return yield* within(discoveryBucket(address), Effect.fail(actor.left))
      const endpoint = endpointOf(target)
      if (endpoint === undefined) return yield* refused("NAME_UNKNOWN", "The registry has nothing at this path")
      const { accountId, plan } = actor.right
      const limit = Math.max(leastPerMinute, plans[plan].requestsPerMinute)
      return yield* within(
        { key: `registry:${accountId}`, limit, window: "1 minute" },
        Effect.provideService(
          dispatch(req, endpoint, new URL(target, "http://x").searchParams),
          CurrentActor,
          actor.right
        )
      )
    })

  const listener: RequestListener = (req, res) => {
    const started = performance.now()
    const requestId = newUlid()
    const heard = cutWhenSilent(req)
    res.on("close", () => {
      const elapsed = performance.now() - started
      const route = `/v2/{${endpointOf(req.url ?? "/")?._tag ?? "nothing"}}`
      const { method = "GET" } = req
      if (measures(settings)) measureRequest({ method, route, status: res.statusCode }, elapsed / 1000)
      void run(
        Effect.logWithLevel(level, `${method} ${req.url?.split("?")[0] ?? ""} ${res.statusCode}`).pipe(
          Effect.annotateLogs("milliseconds", Math.round(elapsed))
        )
      )
    })
    void run(Effect.annotateLogs(Effect.catchAllCause(reply(req), failed), "requestId", requestId))
      .finally(heard)
      .then((answer) => sendReply(req, res, requestId, answer))
      .catch(() => res.destroy())
  }
  return listener
})
