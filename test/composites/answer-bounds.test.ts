import { boundsOfEvents } from "#src/routing/answer-bounds.ts"
import { describe, expect, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { createParser } from "eventsource-parser"

const lineEnd = fc.constantFrom("\n", "\r", "\r\n")
const deep = "[".repeat(101)
/** What may stand before and within an event to hide it from a count: quotes, other fields, comments, a byte order mark. */
const line = fc.oneof(
  fc.constantFrom(`data: ${deep}`, `data:${deep}`, `data: "${deep}"`, `data: {"a":"\\\\",\t"b":${deep}`, `data: ["x"]`),
  fc.constantFrom(`event: "`, `id: ${deep}`, `: ${deep}`, "data: \"", "data: \"\\", "data", "datum: [", "retry: 1"),
  fc.constantFrom("", "", `data: ${"[".repeat(60)}`, `data: ${"]".repeat(60)}`)
)

const chunked = (bytes: Buffer, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))

/** Whether the text opens more than a hundred arrays outside strings before a parser stops at a line's end in one. */
const nestsTooDeep = (data: string) => {
  let depth = 0
  for (const [token] of data.matchAll(/"(?:\\[^\n\r]|[^"\\\n\r])*(?:"|\\?$|\\?(?=[\n\r]))|[[\]{}]/gm)) {
    if (token === "[" || token === "{") depth++
    else if (token === "]" || token === "}") depth = Math.max(0, depth - 1)
    if (depth > 100) return true
  }
  return false
}

describe("the bounds of an event stream", () => {
  it("are those of each event's data as its parser reads them, however it is written and cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, lineEnd), { maxLength: 12 }),
        fc.constantFrom("", "\ufeff"),
        fc.integer({ min: 1, max: 300 }),
        (lines, mark, size) => {
          const sent = `${mark}${lines.map((parts) => parts.join("")).join("")}\n\n`
          const events: Array<string> = []
          createParser({ onEvent: ({ data }) => void events.push(data) }).feed(
            new TextDecoder().decode(Buffer.from(sent))
          )
          const check = boundsOfEvents()
          const pass = () => chunked(Buffer.from(sent), size).forEach((chunk) => check(chunk))
          if (events.some(nestsTooDeep)) expect(pass).toThrow("its answer nests more than 100 levels deep")
          // A line behind a mark is counted whatever its name is.
          else if (mark === "") expect(pass).not.toThrow()
        }
      ),
      { numRuns: 1_000 }
    )
  })
})
