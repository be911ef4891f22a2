import { preferred } from "#http/answers/accept.ts"
import { Headers } from "@effect/platform"
import { FastCheck as fc } from "effect"
import { assert, describe, it } from "vitest"

const offers = ["application/json", "text/event-stream"] as const
const chosen = (accept?: string) => preferred(Headers.fromInput(accept === undefined ? {} : { accept }), offers)

describe("the form of an answer", () => {
  it("is what Accept prefers: by quality, then by how exactly it is named, then by order", () => {
    const events = [
      "text/event-stream",
      "Text/Event-Stream",
      "text/event-stream, application/json;q=0.9",
      "application/json;q=0.5, text/event-stream;q=0.8",
      "text/event-stream, application/json",
      "text/event-stream, */*",
      "*/*;q=0.1, text/event-stream",
      "text/*",
      "application/json;q=0, */*"
    ]
    for (const accept of events) assert.deepEqual([accept, chosen(accept)], [accept, "text/event-stream"])
  })

  it("is the usual one where that is preferred, nothing is said, or nothing that is said is on offer", () => {
    const json = [
      "application/json",
      "*/*",
      "application/json, text/event-stream;q=0.5",
      "application/json, text/event-stream",
      "text/event-stream;q=0",
      "text/event-stream;q=0.000, */*",
      "text/event-stream; q=0 , application/json",
      "application/*, text/event-stream;q=0.9",
      "text/html",
      "text/event-streams",
      "x-text/event-stream",
      "",
      ",",
      "/",
      ";q=1"
    ]
    for (const accept of json) assert.deepEqual([accept, chosen(accept)], [accept, "application/json"])
    assert.strictEqual(chosen(), "application/json")
  })

  it("is never one that the caller gave a quality of 0, unless that is the usual one", () => {
    const quality = fc.constantFrom("", ";q=1", ";q=0.5", ";q=0", "; Q=0.001")
    const range = fc.tuple(fc.constantFrom("*/*", "text/*", "application/json", "text/html"), quality)
    fc.assert(fc.property(fc.array(range), fc.nat(5), (ranges, at) => {
      const parts = ranges.map((range) => range.join(""))
      parts.splice(Math.min(at, parts.length), 0, "text/event-stream;q=0")
      assert.strictEqual(chosen(parts.join(", ")), "application/json")
    }))
  })

  it("is found for any text, and quickly", () => {
    fc.assert(fc.property(fc.string(), (accept) => {
      assert.include(offers, chosen(accept))
    }))
    const started = performance.now()
    for (const part of [",", "a/b,", ";", "\"", "\\\"", "a/b;q=\"", "*/*;q=0.1,", " "]) {
      chosen(part.repeat(Math.floor(16_000 / part.length)))
    }
    assert.isBelow(performance.now() - started, 1_000)
  })
})
