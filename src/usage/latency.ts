import { DDSketch } from "@datadog/sketches-js"

/** Of one bucket, as `sum` told it. */
export interface Bucket {
  readonly latency: number
  readonly requests: number
}

/** Buckets whose values differ by 4 %: what is read of them is at most 2 % off. Changing it makes stored ones wrong. */
const { mapping } = new DDSketch({ relativeAccuracy: 0.02 })

const shortest = 0.01
const longest = 24 * 60 * 60_000

/** The bucket of a time in milliseconds. */
export const bucketOf = (millis: number) => mapping.key(Math.min(longest, Math.max(shortest, millis)))

/** The time in milliseconds below which that share of the requests stayed; 0 without any. */
export const percentileOf = (buckets: ReadonlyArray<Bucket>, share: number): number => {
  const inOrder = buckets.toSorted((one, other) => one.latency - other.latency)
  const rank = Math.ceil(share * buckets.reduce((sum, { requests }) => sum + requests, 0))
  let seen = 0
  const found = inOrder.find(({ requests }) => (seen += requests) >= rank)
  return found === undefined ? 0 : mapping.value(found.latency)
}
