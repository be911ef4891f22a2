import { expect } from "vitest"
import { type FailureBody } from "./http.ts"

/** What a schema library says of itself, and a caller is not to read. */
const internals =
  /Expected|actual|filter|Refinement|Transformation|readonly|[{}]|\bundefined\b|minLength|maxLength|NumberFromString|Zod|_tag/i

/** Holds that a failure is told in short plain sentences, and gives the issues. */
export const inPlainWords = (about: unknown, { error }: FailureBody) => {
  const issues = error.details?.issues ?? []
  for (const { message } of [error, ...issues]) {
    expect(message, JSON.stringify(about)).toEqual(expect.not.stringMatching(internals))
    expect(message, JSON.stringify(about)).toEqual(expect.stringMatching(/^[^\n]{5,400}$/))
  }
  return issues
}

/** One of each kind of JSON, and what is out of most ranges. */
export const oddValues: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  "",
  " ",
  "x y\u0000",
  "Zz",
  "💡".repeat(10_000),
  [],
  [null],
  ["x", {}],
  [[]],
  {},
  { x: 1 }
]
