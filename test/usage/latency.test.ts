import { bucketOf, percentileOf } from "#src/usage/latency.ts"
import { FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"

const bucketsOf = (times: ReadonlyArray<number>) => {
  const counts = new Map<number, number>()
  for (const time of times) counts.set(bucketOf(time), (counts.get(bucketOf(time)) ?? 0) + 1)
  return [...counts].map(([latency, requests]) => ({ latency, requests }))
}

describe("the latency that a share of requests stays below", () => {
  it("is 2 % off at most, in whatever order buckets come, and fits the column", () => {
    const time = fc.double({ min: 0.01, max: 24 * 60 * 60_000, noNaN: true })
    const times = fc.array(time, { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(times, fc.double({ min: 0.01, max: 1, noNaN: true }), (times, share) => {
        const exact = times.toSorted((one, other) => one - other)[Math.ceil(share * times.length) - 1]!
        const found = percentileOf(bucketsOf(times), share)
        expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact * 0.0201)
        for (const { latency } of bucketsOf(times)) expect(Math.abs(latency)).toBeLessThan(32_768)
      })
    )
  })

  it("is 0 without any, and takes times beyond all bounds as the bound", () => {
    expect(percentileOf([], 0.99)).toBe(0)
    expect(bucketOf(0)).toBe(bucketOf(0.01))
    expect(bucketOf(1e12)).toBe(bucketOf(24 * 60 * 60_000))
  })
})
