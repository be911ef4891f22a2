/** Of one bucket, as `sum` told it. */
export interface Bucket {
  readonly latency: number
  readonly requests: number
}

/** What is read of a bucket is at most this share off. Changing it makes stored buckets wrong. */
const accuracy = 0.02
/** Each bucket's upper end is so many times that of the one below (DDSketch, VLDB 2019, section 2.1). */
const gamma = (1 + accuracy) / (1 - accuracy)
const logGamma = Math.log(gamma)

const shortest = 0.01
const longest = 24 * 60 * 60_000

/** The bucket of a time in milliseconds. */
export const bucketOf = (millis: number) =>
  Math.ceil(Math.log(Math.min(longest, Math.max(shortest, millis))) / logGamma)

/** The time in milliseconds below which that share of the requests stayed; 0 without any. */
export const percentileOf = (buckets: ReadonlyArray<Bucket>, share: number): number => {
  const inOrder = buckets.toSorted((one, other) => one.latency - other.latency)
  const rank = Math.ceil(share * buckets.reduce((sum, { requests }) => sum + requests, 0))
  let seen = 0
  const found = inOrder.find(({ requests }) => (seen += requests) >= rank)
  return found === undefined ? 0 : 2 * gamma ** found.latency / (gamma + 1)
}
