import { describe, expect, it } from "@effect/vitest"
import { corpus } from "./exports/corpus.ts"
import { judge } from "./exports/judge.ts"

describe("the corpus of exports", () => {
  const verdicts = corpus.map(judge)
  const others = verdicts.filter(({ isAsExpected }) => !isAsExpected)

  it("has a hundred of different titles", () => {
    expect(corpus.length).toBeGreaterThanOrEqual(100)
    expect(new Set(corpus.map(({ title }) => title)).size).toBe(corpus.length)
  })

  it("is imported as its owners expect, but for those that can't be", () => {
    expect(others.map(({ title }) => title)).toEqual([
      "one stray byte",
      "a total below",
      "headings of sections"
    ])
  })

  it("tells each difference by a warning with row and value", () => {
    expect(others.filter(({ isTold }) => !isTold)).toEqual([])
  })
})
