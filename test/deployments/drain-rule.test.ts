import { drained, type Draining, most, quietBefore } from "#src/deployments/drain-rule.ts"
import { FastCheck } from "effect"
import { assert, describe, it } from "vitest"

const machine = FastCheck.record({
  isRunning: FastCheck.boolean(),
  millisLeft: FastCheck.integer({ min: -1_000, max: 30_000 }),
  quietMillis: FastCheck.option(FastCheck.integer({ min: 0, max: 10_000 }), { nil: undefined }),
  openSessions: FastCheck.integer({ min: -1, max: 3 })
})
const machines = FastCheck.array(machine, { maxLength: 16 }).map((list) =>
  list.map((one, at): Draining => ({ id: `dep_${at}`, version: at + 1, ...one }))
)
const plain: Draining = {
  id: "",
  version: 1,
  isRunning: true,
  millisLeft: 20_000,
  quietMillis: undefined,
  openSessions: 0
}
const many = (count: number, each: Partial<Draining>) =>
  Array.from({ length: count }, (_, at): Draining => ({ ...plain, id: String(at + 1), version: at + 1, ...each }))

describe("draining machines", () => {
  it("go when they ended, at the limit, and when nothing is open there", () => {
    const reason = (each: Partial<Draining>) => drained(many(1, each)).get("1")
    assert.isUndefined(reason({}))
    assert.isUndefined(reason({ quietMillis: quietBefore - 1 }))
    assert.isUndefined(reason({ quietMillis: 60_000, openSessions: 1 }))
    assert.strictEqual(reason({ quietMillis: quietBefore }), "nothing open")
    // More ends than beginnings: a machine that says yes to any DELETE.
    assert.strictEqual(reason({ quietMillis: quietBefore, openSessions: -4 }), "nothing open")
    assert.strictEqual(reason({ millisLeft: 0, openSessions: 9 }), "limit")
    assert.strictEqual(reason({ isRunning: false, openSessions: 9 }), "ended")
  })

  it("go early, the oldest first, when there are too many: those with a connection last", () => {
    const cut = (list: ReadonlyArray<Draining>) => [...drained(list).keys()]
    assert.deepStrictEqual(cut(many(5, { quietMillis: 5_000, openSessions: 1 })), ["1", "2"])
    assert.deepStrictEqual(cut(many(most.busy, {})), [])
    assert.deepStrictEqual(cut(many(most.busy + 2, {})), ["1", "2"])
    const mixed = many(5, {}).map((one) => one.version === 4 ? { ...one, quietMillis: 5_000, openSessions: 1 } : one)
    assert.deepStrictEqual(cut(mixed), ["4"])
  })

  it("never are more than the most, and none with a connection goes while there is room", () => {
    FastCheck.assert(FastCheck.property(machines, (list) => {
      const ends = drained(list)
      const left = list.filter(({ id }) => !ends.has(id))
      assert.isAtMost(left.length, most.busy)
      for (const one of list) {
        const isDue = !one.isRunning || one.millisLeft <= 0
        if (isDue) assert.isTrue(ends.has(one.id))
        else if (one.quietMillis === undefined && list.length <= most.busy) assert.isFalse(ends.has(one.id))
      }
      // What was cut for room is older than what is left of its kind.
      const quiet = (one: Draining) => one.quietMillis !== undefined && one.quietMillis >= quietBefore
      for (const one of list.filter(({ id }) => ends.get(id) === "too many")) {
        for (const other of left) if (quiet(one) === quiet(other)) assert.isBelow(one.version, other.version)
      }
    }))
  })
})
