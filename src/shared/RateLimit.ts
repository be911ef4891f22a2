import { CurrentSettings, SettingError } from "#src/Config.ts"
import { RateLimiter } from "@effect/experimental"
import { Clock, Duration, Effect, Option, Redacted, Schema } from "effect"
import { failsWith } from "./Failure.ts"
import { memoryStore } from "./rate-limit-memory.ts"
import { redisStore } from "./rate-limit-redis.ts"

/** The counters can't be reached. The hub refuses (503), the platform lets the request pass. */
export class RateLimitUnavailable extends Schema.TaggedError<RateLimitUnavailable>()(
  "RateLimitUnavailable",
  {},
  failsWith(503)
) {
  override get message() {
    return "Rate limits can't be checked right now"
  }
}

/** What the headers tell. */
export interface RateLimitState {
  readonly limit: number
  /** Requests left in the window, 0 when refused. */
  readonly remaining: number
  /** When the window ends, in Unix seconds. */
  readonly resetAt: number
  readonly allowed: boolean
  /** Seconds until a refused request may come again, at least 1; 0 when allowed. */
  readonly retryAfterSeconds: number
}

export interface RateLimitRule {
  /** The bucket, e.g. `ip 192.0.2.1`. */
  readonly key: string
  readonly limit: number
  readonly window: Duration.DurationInput
}

const redis = (url: string) =>
  /^rediss?:\/\//.test(url) && URL.canParse(url)
    ? redisStore(url)
    : new SettingError({ message: "REDIS_URL is not a Redis URL (redis://user:password@host:6379)" })

const store = Effect.flatMap(
  CurrentSettings,
  ({ redisUrl }) => Option.match(redisUrl, { onNone: () => memoryStore, onSome: (url) => redis(Redacted.value(url)) })
)

/** Fixed windows that start with a bucket's first request. Shared by all instances when `REDIS_URL` is set. */
export class RateLimit extends Effect.Service<RateLimit>()("shared/RateLimit", {
  scoped: Effect.gen(function*() {
    const limiter = yield* Effect.provideServiceEffect(RateLimiter.make, RateLimiter.RateLimiterStore, store)

    /** Counts one request. A refused one is not counted. */
    const consume = Effect.fn("RateLimit.consume")(function*({ key, limit, window }: RateLimitRule) {
      const state = (allowed: boolean, remaining: number, left: Duration.Duration) =>
        Effect.map(Clock.currentTimeMillis, (now): RateLimitState => ({
          limit,
          remaining,
          resetAt: Math.ceil((now + Duration.toMillis(left)) / 1000),
          allowed,
          retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil(Duration.toSeconds(left)))
        }))
      if (limit < 1) return yield* state(false, 0, Duration.decode(window))
      return yield* limiter.consume({ key, limit, window, onExceeded: "fail" }).pipe(
        Effect.flatMap(({ remaining, resetAfter }) => state(true, remaining, resetAfter)),
        Effect.catchAll((error) =>
          error.reason === "Exceeded" ? state(false, 0, error.retryAfter) : new RateLimitUnavailable()
        )
      )
    })

    return { consume } as const
  })
}) {}
