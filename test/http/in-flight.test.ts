import { InFlight } from "#http/connection/in-flight.ts"
import { it } from "@effect/vitest"
import { FastCheck } from "effect"
import { expect } from "vitest"

it("what is under way is known as by a set", () => {
  const step = FastCheck.record({ adds: FastCheck.boolean(), at: FastCheck.nat(20) })
  FastCheck.assert(FastCheck.property(FastCheck.array(step), (steps) => {
    const under = new InFlight<number>()
    const all: Array<ReturnType<typeof under.add>> = []
    const expected = new Set<number>()
    steps.forEach(({ adds, at }, value) => {
      if (adds) {
        all.push(under.add(value))
        expected.add(value)
      } else if (all[at] !== undefined) {
        // Also when it was deleted before.
        under.delete(all[at])
        expected.delete(all[at].value)
      }
    })
    expect(under.size).toBe(expected.size)
    expect(new Set(under.entries().map(({ value }) => value))).toEqual(expected)
  }))
})
