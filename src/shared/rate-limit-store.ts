import { Data, type Effect } from "effect"

export interface Bucket {
  readonly key: string
  readonly limit: number
  readonly windowMillis: number
}

/** A bucket's requests including this one, and the milliseconds until its window ends. */
export interface Count {
  readonly count: number
  readonly millisLeft: number
}

/** The counters can't be reached. */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{ readonly cause: unknown }> {}

/** Fixed windows that start with a bucket's first request. */
export interface RateLimitStore {
  /** Counts one request in all of the buckets, or in none when one of them is full, atomically. */
  readonly take: (buckets: ReadonlyArray<Bucket>) => Effect.Effect<ReadonlyArray<Count>, StoreUnavailable>
}
