import {
  isSettled,
  mayHaveMachine,
  openStages,
  rules,
  sourcesOf,
  type Stage,
  stages,
  stepOf
} from "#src/deployments/transitions.ts"
import { FastCheck } from "effect"
import { assert, describe, it } from "vitest"

const stage = FastCheck.constantFrom(...stages)
const pair = FastCheck.tuple(stage, stage)

describe("the stages of a deployment", () => {
  it("every walk from pending ends, and ends in retired, failed or kept", () => {
    FastCheck.assert(FastCheck.property(FastCheck.infiniteStream(FastCheck.nat()), (choices) => {
      let at: Stage = "pending"
      for (let steps = 0; rules[at].next.length > 0; steps++) {
        assert.isBelow(steps, stages.length)
        const next: ReadonlyArray<Stage> = rules[at].next
        at = next[choices.next().value! % next.length]!
      }
      assert.notInclude(openStages, at)
    }))
  })

  it("a stage is entered from itself and from what leads to it, and from nowhere else", () => {
    FastCheck.assert(FastCheck.property(pair, ([from, to]) => {
      assert.strictEqual(sourcesOf(to).includes(from), from === to || rules[from].next.includes(to))
    }))
  })

  it("what has settled never becomes unsettled", () => {
    for (const from of stages.filter((name) => isSettled(rules[name].status))) {
      for (const to of rules[from].next) assert.isTrue(isSettled(rules[to].status), `${from} → ${to}`)
    }
  })

  it("nothing fails after the swap, and everything can before it", () => {
    assert.deepStrictEqual(sourcesOf("failed").filter((from) => rules[from].status === "running"), [])
    for (const from of stages.filter((name) => !isSettled(rules[name].status))) {
      assert.include(rules[from].next, "failed")
    }
  })

  it("a machine is kept only where there may be one", () => {
    assert.deepStrictEqual(stages.filter((name) => rules[name].next.includes("kept")), stages.filter(mayHaveMachine))
  })

  it("each step forward is one more, and the end is the total", () => {
    const way = [
      "pending",
      "resolving",
      "scanning",
      "mirroring",
      "creating",
      "starting",
      "checking",
      "swapping"
    ] as const
    assert.deepStrictEqual(way.map((name) => stepOf(name).step), [0, 1, 2, 3, 4, 5, 6, 7])
    FastCheck.assert(FastCheck.property(stage, (name) => {
      const { step, total } = stepOf(name)
      assert.strictEqual(total, 7)
      if (isSettled(rules[name].status)) assert.strictEqual(step, total)
    }))
  })
})
