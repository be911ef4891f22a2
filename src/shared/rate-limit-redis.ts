import { RateLimiter } from "@effect/experimental"
import { Effect, Runtime } from "effect"
import { Redis } from "ioredis"
import { windowMillis } from "./rate-limit-memory.ts"

/** One step in the server, so that instances can't count past each other. Times are Redis's own. */
const script = `
local limit, window = tonumber(ARGV[2]), tonumber(ARGV[3])
local left = redis.call("PTTL", KEYS[1])
local count = (left > 0 and tonumber(redis.call("GET", KEYS[1])) or 0) + tonumber(ARGV[1])
if left <= 0 then left = window end
if count <= limit then redis.call("SET", KEYS[1], count, "PX", left) end
return { count, left }`

interface WithScript extends Redis {
  readonly countRequest: (key: string, tokens: number, limit: number, window: number) => Promise<[number, number]>
}

const connect = (url: string) => {
  const redis = new Redis(url, {
    connectionName: "berth",
    // A request does not wait for Redis to come back: the caller decides at once what to do without it.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 1000,
    connectTimeout: 2000,
    retryStrategy: (times) => Math.min(times * 100, 2000)
  }) as WithScript
  redis.defineCommand("countRequest", { numberOfKeys: 1, lua: script })
  return redis
}

/** Says once when Redis goes away and once when it is back, not at every attempt. */
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

/** Counters in Redis. A Redis that is down neither stops the start nor the program; it is reconnected to. */
export const redisStore = (url: string) =>
  Effect.gen(function*() {
    const runtime = yield* Effect.runtime()
    const redis = yield* Effect.acquireRelease(
      Effect.sync(() => connect(url)),
      (redis) => Effect.sync(() => redis.disconnect())
    )
    report(redis, (effect) => Runtime.runFork(runtime)(effect))
    yield* ready(redis)
    return RateLimiter.RateLimiterStore.of({
      fixedWindow: ({ key, limit = Number.MAX_SAFE_INTEGER, refillRate, tokens }) =>
        Effect.tryPromise({
          try: () => redis.countRequest(`berth:rate:${key}`, tokens, limit, windowMillis(refillRate, limit)),
          catch: (cause) => new RateLimiter.RateLimitStoreError({ message: "Redis did not answer", cause })
        }),
      tokenBucket: () => Effect.dieMessage("Only fixed windows are counted here")
    })
  })
