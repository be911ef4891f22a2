import { Data, type Effect } from "effect"

export interface Bucket {
  readonly key: string
  readonly limit: number
  readonly windowMillis: number
}

/** A bucket's requests with this one among them, and the milliseconds until its window ends. */
export interface Count {
  readonly count: number
  readonly left: number
}

/** The counters can't be reached. */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{ readonly cause: unknown }> {}

/** Fixed windows, each of its full length from a bucket's first request on. */
export interface RateLimitStore {
  /** Counts one request in all of the buckets, or in none when one of them is full; nobody counts in between. */
  readonly take: (buckets: ReadonlyArray<Bucket>) => Effect.Effect<ReadonlyArray<Count>, StoreUnavailable>
}
