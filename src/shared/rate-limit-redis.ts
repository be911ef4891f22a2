import { Effect, Runtime } from "effect"
import { Redis } from "ioredis"
import { type Count, type RateLimitStore, StoreUnavailable } from "./rate-limit-store.ts"

/** Atomic in the server, so that concurrent instances count correctly. Times are Redis's own. */
const script = `
local counts, fits = {}, true
for i, key in ipairs(KEYS) do
  local left = redis.call("PTTL", key)
  local count = (left > 0 and tonumber(redis.call("GET", key)) or 0) + 1
  if left <= 0 then left = tonumber(ARGV[2 * i]) end
  if count > tonumber(ARGV[2 * i - 1]) then fits = false end
  counts[2 * i - 1], counts[2 * i] = count, left
end
if fits then
  for i, key in ipairs(KEYS) do redis.call("SET", key, counts[2 * i - 1], "PX", counts[2 * i]) end
end
return counts`

interface WithScript extends Redis {
  readonly countRequest: (keys: number, ...keysAndLimits: ReadonlyArray<string | number>) => Promise<Array<number>>
}

const connect = (url: string) => {
  const redis = new Redis(url, {
    connectionName: "berth",
    // A request does not wait for a reconnect: the caller decides at once what to do without Redis.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 1000,
    connectTimeout: 2000,
    retryStrategy: (times) => Math.min(times * 100, 2000)
  }) as WithScript
  redis.defineCommand("countRequest", { lua: script })
  return redis
}

/** Logs once when Redis is lost and once when it is back, not at every attempt. */
const report = (redis: Redis, run: (effect: Effect.Effect<void>) => void) => {
  let away = false
  redis.on("error", (error: Error) => {
    if (!away) run(Effect.logWarning(`REDIS_URL: Redis can't be reached: ${error.message || error.name}`))
    away = true
  })
  redis.on("ready", () => {
    if (away) run(Effect.logInfo("Redis is reached again"))
    away = false
  })
}

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
      Effect.sync(() => connect(url)),
      (redis) => Effect.sync(() => redis.disconnect())
    )
    report(redis, (effect) => Runtime.runFork(runtime)(effect))
    yield* ready(redis)
    const take: RateLimitStore["take"] = (buckets) =>
      Effect.tryPromise({
        try: () =>
          redis.countRequest(
            buckets.length,
            ...buckets.map(({ key }) => `berth:rate:${key}`),
            ...buckets.flatMap(({ limit, windowMillis }) => [limit, windowMillis])
          ),
        catch: (cause) => new StoreUnavailable({ cause })
      }).pipe(
        Effect.map((counts) =>
          buckets.map((_, i): Count => ({ count: counts[2 * i]!, millisLeft: counts[2 * i + 1]! }))
        )
      )
    return { take } satisfies RateLimitStore
  })
