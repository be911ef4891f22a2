import { Effect } from "effect"
import { type Bucket, type RateLimitStore } from "./rate-limit-store.ts"

/** Buckets kept at most: about 20 MB. A flood of addresses costs the oldest buckets their count, never the process. */
const capacity = 100_000
const sweepEvery = 10_000

export const makeMemoryStore = (limitOfBuckets = capacity) => {
  const windows = new Map<string, { count: number; readonly endsAt: number }>()
  let sweptAt = 0

  const sweep = (now: number) => {
    sweptAt = now
    for (const [key, { endsAt }] of windows) if (endsAt <= now) windows.delete(key)
    if (windows.size < limitOfBuckets) return
    // Insertion order: the first keys are the oldest windows. A tenth at once, so that a flood is not swept each time.
    for (const key of windows.keys()) {
      windows.delete(key)
      if (windows.size <= limitOfBuckets * 0.9) break
    }
  }

  const windowOf = ({ key, windowMillis }: Bucket, now: number) => {
    const window = windows.get(key)
    if (window !== undefined && window.endsAt > now) return window
    windows.delete(key)
    if (windows.size >= limitOfBuckets) sweep(now)
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
          const taken = buckets.map((bucket) => ({ window: windowOf(bucket, now), limit: bucket.limit }))
          const counts = taken.map(({ window }) => ({ count: window.count + 1, left: window.endsAt - now }))
          if (taken.every(({ limit, window }) => window.count < limit)) {
            for (const { window } of taken) window.count++
          }
          return counts
        })
      )
  }
  return { store, size: () => windows.size }
}

export const memoryStore = Effect.sync(() => makeMemoryStore().store)
