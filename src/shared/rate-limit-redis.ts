import { Effect, Runtime } from "effect"
import { type Redis } from "ioredis"
import { makeOutage } from "./rate-limit-outage.ts"
import { type Bucket, type Count, type RateLimitStore, StoreUnavailable } from "./rate-limit-store.ts"
import { together } from "./rate-limit-together.ts"

const timeout = 1_000

/**
 * Rejects after the timeout. A process that was busy for longer reads first what has arrived meanwhile: timers run
 * before sockets are read, and `setImmediate` after.
 */
const inTime = <A>(work: Promise<A>) =>
  new Promise<A>((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(() => reject(new Error(`No answer in ${timeout} ms`))), timeout)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })

/** Most installations have no Redis, and start without its client. */
const connect = async (url: string) => (await import("./redis-client.ts")).redisClient(url)

const lost = (error: unknown) =>
  Effect.logWarning(
    `REDIS_URL: Redis does not work (${
      error instanceof Error ? error.message || error.name : String(error)
    }): until it ` +
      "does, hub endpoints that it limits answer 503, and other requests pass without a rate limit"
  )

const ready = (redis: Redis) =>
  Effect.async<void>((resume) => {
    const done = () => resume(Effect.void)
    redis.once("ready", done)
    redis.once("error", done)
  }).pipe(Effect.timeoutOption("2 seconds"))

/** Counters in Redis. The program starts and runs without a Redis that is down, and reconnects. */
export const redisStore = (url: string) =>
  Effect.gen(function*() {
    const runtime = yield* Effect.runtime()
    const redis = yield* Effect.acquireRelease(
      Effect.promise(() => connect(url)),
      (redis) => Effect.sync(() => redis.disconnect())
    )
    const outage = makeOutage({
      lost: (error) => Runtime.runFork(runtime)(lost(error)),
      back: () => Runtime.runFork(runtime)(Effect.logInfo("Redis works again"))
    })
    redis.on("error", outage.failed)
    redis.on("ready", outage.worked)
    yield* ready(redis)
    const count = async (buckets: ReadonlyArray<Bucket>, requests: number) => {
      const [granted = 0, ...counts] = await outage.ask(() =>
        inTime(redis.countRequests(
          buckets.length,
          ...buckets.map(({ key }) => `berth:rate:${key}`),
          requests,
          ...buckets.flatMap(({ limit, windowMillis }) => [limit, windowMillis])
        ))
      )
      return {
        granted,
        counts: buckets.map((_, i): Count => ({ count: counts[2 * i]!, millisLeft: counts[2 * i + 1]! }))
      }
    }
    const take = together(count)
    return {
      take: (buckets) =>
        Effect.tryPromise({ try: () => take(buckets), catch: (cause) => new StoreUnavailable({ cause }) })
    } satisfies RateLimitStore
  })
