import { failuresAt, mostFailures, retryAt, type Tally, withFailure } from "#src/accounts/slowdown.ts"
import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"

const minute = 60_000
const day = 24 * 60 * minute

/** Tries each so many milliseconds; when those that were let pass were made. */
const passes = (gaps: ReadonlyArray<number>) => {
  let tally: Tally | undefined
  let millis = 0
  return gaps.flatMap((gap) => {
    millis += gap
    const at = new Date(millis)
    if (tally !== undefined && retryAt(tally, at) !== undefined) return []
    tally = withFailure(tally, at)
    return [millis]
  })
}

describe("failed log-ins for one account", () => {
  it("are let pass a hundred times, then once a minute", () => {
    const passed = passes(Array.from({ length: 1000 }, () => 1000))
    expect(passed.slice(0, mostFailures)).toEqual(Array.from({ length: mostFailures }, (_, at) => (at + 1) * 1000))
    expect(passed.slice(mostFailures, mostFailures + 3)).toEqual([160_000, 220_000, 280_000])
    expect(passed).toHaveLength(mostFailures + 15)
  })

  it("are forgotten one by one: none is left after a day", () => {
    let tally: Tally | undefined
    for (let at = 0; at < 500; at++) tally = withFailure(tally, new Date(at * minute))
    expect(failuresAt(tally!, tally!.countedAt)).toBe(mostFailures)
    expect(failuresAt(tally!, new Date(tally!.countedAt.getTime() + day / 2))).toBeCloseTo(mostFailures / 2)
    expect(failuresAt(tally!, new Date(tally!.countedAt.getTime() + day))).toBe(0)
  })

  it("never pass more than a hundred at once and one a minute, however they are spread", () => {
    FastCheck.assert(FastCheck.property(
      FastCheck.array(FastCheck.oneof(FastCheck.nat(2_000), FastCheck.nat(3 * minute)), { maxLength: 600 }),
      (gaps) => {
        const passed = passes(gaps)
        passed.forEach((at, index) => {
          const within = passed.slice(0, index + 1).filter((other) => other > at - 60 * minute).length
          expect(within).toBeLessThanOrEqual(mostFailures + 61)
        })
      }
    ))
  })

  it("let an attempt pass within a minute, whatever was tried and whatever the clock does", () => {
    FastCheck.assert(FastCheck.property(
      FastCheck.record({ failures: FastCheck.nat(mostFailures), countedAt: FastCheck.date({ noInvalidDate: true }) }),
      FastCheck.integer({ min: -day, max: day }),
      (tally, after) => {
        const at = new Date(tally.countedAt.getTime() + after)
        const until = retryAt(tally, at)
        if (until !== undefined) expect(retryAt(tally, until)).toBeUndefined()
        if (after >= minute) expect(until).toBeUndefined()
      }
    ))
  })
})
