import { CurrentSettings, SettingError } from "#src/config/Settings.ts"
import { parseUrl } from "#src/format/parse-url.ts"
import { Clock, Duration, Effect, Option, Redacted, Schema } from "effect"
import { failsWith } from "./Failure.ts"
import { memoryStore } from "./rate-limit-memory.ts"
import { redisStore } from "./rate-limit-redis.ts"
import { type Count } from "./rate-limit-store.ts"

/** The counters can't be reached. The hub rejects the request (503), the platform lets it pass. */
export class RateLimitUnavailable extends Schema.TaggedError<RateLimitUnavailable>()(
  "RateLimitUnavailable",
  {},
  failsWith(503)
) {
  readonly retryAfter = 5
  override get message() {
    return "Rate limits can't be checked right now"
  }
}

/** For the rate-limit headers. */
export interface RateLimitState {
  readonly limit: number
  /** Requests left in the window, 0 when rejected. */
  readonly remaining: number
  /** When the window ends, in Unix seconds. */
  readonly resetAt: number
  readonly allowed: boolean
  /** Seconds until a rejected request may be retried, at least 1; 0 when allowed. */
  readonly retryAfterSeconds: number
}

export interface RateLimitRule {
  /** The bucket, e.g. `ip 192.0.2.1`. */
  readonly key: string
  readonly limit: number
  readonly window: Duration.DurationInput
}

const redis = (url: string) =>
  /^rediss?:\/\//.test(url) && parseUrl(url) !== undefined
    ? redisStore(url)
    : new SettingError({ message: "REDIS_URL is not a Redis URL (redis://user:password@host:6379)" })

const store = Effect.flatMap(
  CurrentSettings,
  ({ redisUrl }) => Option.match(redisUrl, { onNone: () => memoryStore, onSome: (url) => redis(Redacted.value(url)) })
)

interface Usage extends Count {
  readonly limit: number
}

const full = ({ count, limit }: Usage) => count > limit
/** Of full buckets the one that reopens last, else the one with the fewest requests left. */
const tighter = (one: Usage, other: Usage) =>
  full(one) || full(other)
    ? full(other) && (!full(one) || other.millisLeft > one.millisLeft) ? other : one
    : other.limit - other.count < one.limit - one.count
    ? other
    : one

const stateOf = ({ count, limit, millisLeft }: Usage, now: number): RateLimitState => {
  const allowed = count <= limit
  return {
    limit,
    remaining: Math.max(0, limit - count),
    resetAt: Math.ceil((now + millisLeft) / 1000),
    allowed,
    retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil(millisLeft / 1000))
  }
}

type Rules = readonly [RateLimitRule, ...ReadonlyArray<RateLimitRule>]

/** Fixed windows that start with a bucket's first request. Shared by all instances when `REDIS_URL` is set. */
export class RateLimit extends Effect.Service<RateLimit>()("shared/RateLimit", {
  scoped: Effect.gen(function*() {
    const { take } = yield* store

    /**
     * Counts one request in all buckets atomically, or in none when one is full (a rejected request is not counted).
     * Returns the state of the tightest bucket.
     */
    const consume = (...rules: Rules) => {
      const buckets = rules.map(({ key, limit, window }) => ({
        key,
        limit: Math.max(0, limit),
        windowMillis: Math.max(1, Math.round(Duration.toMillis(window)))
      }))
      return Effect.clockWith((clock) =>
        Effect.mapBoth(take(buckets), {
          onFailure: () => new RateLimitUnavailable(),
          onSuccess: (counts) =>
            stateOf(
              counts.map((count, i): Usage => ({ ...count, limit: buckets[i]!.limit })).reduce(tighter),
              clock.unsafeCurrentTimeMillis()
            )
        })
      )
    }

    /** The same, but allows the request when the counters are unavailable, as the first in the first bucket. */
    const consumeOrPass = (...rules: Rules) =>
      Effect.catchAll(consume(...rules), () =>
        Effect.map(Clock.currentTimeMillis, (now): RateLimitState => ({
          limit: rules[0].limit,
          remaining: rules[0].limit,
          resetAt: Math.ceil((now + Duration.toMillis(rules[0].window)) / 1000),
          allowed: true,
          retryAfterSeconds: 0
        })))

    return { consume, consumeOrPass } as const
  })
}) {}
