import { Effect } from "effect"
import { type Bucket, type RateLimitStore } from "./rate-limit-store.ts"

/** Maximum of buckets, about 20 MB: a flood of addresses evicts the oldest buckets. */
const capacity = 100_000
const sweepEvery = 10_000

export const makeMemoryStore = (maxBuckets = capacity) => {
  const windows = new Map<string, { count: number; readonly endsAt: number }>()
  let sweptAt = 0

  const sweep = (now: number) => {
    sweptAt = now
    for (const [key, { endsAt }] of windows) if (endsAt <= now) windows.delete(key)
    if (windows.size < maxBuckets) return
    // In insertion order the oldest windows come first. Evicts a tenth at once, so that a flood does not sweep each
    // time.
    for (const key of windows.keys()) {
      windows.delete(key)
      if (windows.size <= maxBuckets * 0.9) break
    }
  }

  const windowOf = ({ key, windowMillis }: Bucket, now: number) => {
    const window = windows.get(key)
    if (window !== undefined && window.endsAt > now) return window
    windows.delete(key)
    if (windows.size >= maxBuckets) sweep(now)
    const fresh = { count: 0, endsAt: now + windowMillis }
    windows.set(key, fresh)
    return fresh
  }

  const store: RateLimitStore = {
    take: (buckets) =>
      Effect.clockWith((clock) =>
        Effect.sync(() => {
          const now = clock.unsafeCurrentTimeMillis()
          if (now - sweptAt >= sweepEvery) sweep(now)
          const requested = buckets.map((bucket) => ({ window: windowOf(bucket, now), limit: bucket.limit }))
          const counts = requested.map(({ window }) => ({ count: window.count + 1, millisLeft: window.endsAt - now }))
          if (requested.every(({ limit, window }) => window.count < limit)) {
            for (const { window } of requested) window.count++
          }
          return counts
        })
      )
  }
  return { store, size: () => windows.size }
}

export const memoryStore = Effect.sync(() => makeMemoryStore().store)
