import { type DiskState, stateOf } from "#src/shared/disk-state.ts"
import { FastCheck } from "effect"
import { describe, expect, it } from "vitest"

const states: ReadonlyArray<DiskState> = ["low", "scarce", "enough"]

describe("the state of a disk", () => {
  it.each<[number, DiskState, DiskState]>([
    [99, "enough", "low"],
    [100, "enough", "scarce"],
    [199, "enough", "scarce"],
    [200, "enough", "enough"],
    // Just above a mark it was below of, it counts as below still.
    [109, "low", "low"],
    [111, "low", "scarce"],
    [219, "scarce", "scarce"],
    [221, "scarce", "enough"],
    [300, "low", "enough"]
  ])("with %i free of a reserve of 100, and %s before, is %s", (free, before, after) => {
    expect(stateOf(free, 100, before)).toBe(after)
  })

  it("is settled: looked at again it is the same, and more space is never worse", () => {
    FastCheck.assert(FastCheck.property(
      FastCheck.nat(1000),
      FastCheck.nat(1000),
      FastCheck.nat(300),
      FastCheck.constantFrom(...states),
      (free, more, reserve, before) => {
        const after = stateOf(free, reserve, before)
        expect(stateOf(free, reserve, after)).toBe(after)
        expect(states.indexOf(stateOf(free + more, reserve, before))).toBeGreaterThanOrEqual(states.indexOf(after))
      }
    ))
  })

  it("is always enough without a reserve", () => {
    for (const before of states) expect(stateOf(0, 0, before)).toBe("enough")
  })
})
