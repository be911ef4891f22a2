import { RateLimiter } from "@effect/experimental"
import { Duration, Effect } from "effect"

/** Buckets kept at most: about 20 MB. A flood of addresses costs the oldest buckets their count, never the process. */
const capacity = 100_000
const sweepEvery = 10_000

/** The window's length; the limiter hands over the time for one token (the window divided by the limit). */
export const windowMillis = (refillRate: Duration.Duration, limit: number) =>
  Math.max(1, Math.round(Duration.toMillis(refillRate) * limit))

const noTokenBucket = () => Effect.dieMessage("Only fixed windows are counted here")

/**
 * The library's own memory store never forgets a bucket, and its windows grow with use (a request a second would show
 * a full bucket for ever). Here a window has its full length from the first request on.
 */
export const makeMemoryStore = (limitOfBuckets = capacity) => {
  const buckets = new Map<string, { count: number; readonly endsAt: number }>()
  let sweptAt = 0

  const sweep = (now: number) => {
    sweptAt = now
    for (const [key, { endsAt }] of buckets) if (endsAt <= now) buckets.delete(key)
    if (buckets.size < limitOfBuckets) return
    // Insertion order: the first keys are the oldest windows. A tenth at once, so that a flood is not swept each time.
    for (const key of buckets.keys()) {
      buckets.delete(key)
      if (buckets.size <= limitOfBuckets * 0.9) break
    }
  }

  const store = RateLimiter.RateLimiterStore.of({
    fixedWindow: ({ key, limit = Infinity, refillRate, tokens }) =>
      Effect.clockWith((clock) =>
        Effect.sync(() => {
          const now = clock.unsafeCurrentTimeMillis()
          if (now - sweptAt >= sweepEvery) sweep(now)
          let bucket = buckets.get(key)
          if (bucket === undefined || bucket.endsAt <= now) {
            buckets.delete(key)
            if (buckets.size >= limitOfBuckets) sweep(now)
            bucket = { count: 0, endsAt: now + windowMillis(refillRate, limit) }
            buckets.set(key, bucket)
          }
          const count = bucket.count + tokens
          if (count <= limit) bucket.count = count
          return [count, bucket.endsAt - now] as const
        })
      ),
    tokenBucket: noTokenBucket
  })
  return { store, size: () => buckets.size }
}

export const memoryStore = Effect.sync(() => makeMemoryStore().store)
