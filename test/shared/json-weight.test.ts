import { jsonWeight } from "#src/shared/json-weight.ts"
import { describe, expect, it } from "vitest"

describe("the weight of a JSON value", () => {
  it("counts every value, and in how many objects and arrays the innermost lies", () => {
    const values = [["text", 1, 0], [{}, 1, 0], [[], 1, 0], [[{}], 2, 1], [{ a: [1, { b: null }] }, 5, 3]] as const
    for (const [value, nodes, depth] of values) expect(jsonWeight(value)).toEqual({ nodes, depth })
  })

  it("takes what nests deeper than the stack", () => {
    const deep = JSON.parse("[".repeat(1_000_000) + "]".repeat(1_000_000)) as unknown
    expect(jsonWeight(deep)).toEqual({ nodes: 1_000_000, depth: 999_999 })
  })
})
