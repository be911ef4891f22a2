import { EventBorder } from "#http/connection/event-border.ts"
import { every, firstAfter, Pulse } from "#http/connection/pulse.ts"
import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"

/** The events of a whole stream, as a client reads them (WHATWG HTML, server-sent events). */
const eventsOf = (stream: string) => {
  const events: Array<ReadonlyArray<string>> = []
  const fields: Array<string> = []
  for (const line of stream.split(/\r\n|\n|\r/)) {
    if (line === "" && fields.length > 0) events.push(fields.splice(0))
    if (line !== "" && !line.startsWith(":")) fields.push(line)
  }
  return events
}

const lineEnd = fc.constantFrom("\n", "\r\n", "\r")
const line = fc.constantFrom(
  "data: 1",
  "data: {\"a\":1}",
  "event: message",
  "id: 7",
  "retry: 10",
  ":",
  ": hello",
  "",
  ""
)
/** One line end in a whole stream, as each server writes it. */
const stream = fc.tuple(lineEnd, fc.array(line, { maxLength: 20 })).map(([end, lines]) =>
  lines.map((one) => one + end).join("")
)
const cuts = fc.array(fc.nat(), { maxLength: 20 })

const chunksOf = (text: string, at: ReadonlyArray<number>) => {
  const ends = [...at.map((n) => n % (text.length + 1)), text.length].sort((a, b) => a - b)
  return ends.map((end, i) => Buffer.from(text.slice(ends[i - 1] ?? 0, end), "latin1"))
}

describe("the border between two events", () => {
  it("takes a comment that changes no event, wherever the stream is cut", () =>
    fc.assert(fc.property(stream, cuts, (text, at) => {
      const border = new EventBorder()
      let sent = ""
      for (const chunk of chunksOf(text, at)) {
        if (border.isHere) sent += border.comment
        border.push(chunk)
        sent += chunk.toString("latin1")
      }
      assert.deepStrictEqual(eventsOf(sent), eventsOf(text))
    })))

  it("is found after every whole event, comment and empty line", () =>
    fc.assert(fc.property(fc.constantFrom("\n", "\r\n"), fc.array(line), cuts, (end, lines, at) => {
      const border = new EventBorder()
      const text = [...lines, "", ""].map((one) => one + end).join("")
      for (const chunk of chunksOf(text, at)) border.push(chunk)
      assert.isTrue(border.isHere)
      border.push(Buffer.from(`: and a comment${end}`))
      assert.isTrue(border.isHere)
    })))

  it("is not within a line, a line end, or an event of any length", () => {
    const long = "x".repeat(5_000)
    for (
      const part of [
        "d",
        "data: 1",
        "data: 1\n",
        "data: 1\r\n\r",
        ": comm",
        "id: 1\n: c\n",
        `data: ${long}`,
        `${long}\n`
      ]
    ) {
      const border = new EventBorder()
      border.push(Buffer.from("data: 0\r\n\r\n"))
      border.push(Buffer.from(part))
      assert.isFalse(border.isHere, JSON.stringify(part.slice(0, 20)))
      border.push(Buffer.from("\n\n"))
      assert.isTrue(border.isHere, JSON.stringify(part.slice(0, 20)))
    }
  })

  it("tells what is said from comments, wherever the stream is cut", () =>
    fc.assert(fc.property(stream, cuts, (text, at) => {
      const border = new EventBorder()
      const said = chunksOf(text, at).map((chunk) => border.push(chunk)).includes(true)
      assert.strictEqual(said, text.split(/[\r\n]/).some((one) => one !== "" && !one.startsWith(":")))
    })))

  it("has the line ends of its stream", () => {
    const border = new EventBorder()
    assert.strictEqual(border.comment, ":\n\n")
    border.push(Buffer.from("data: 1\r\n\r\n"))
    assert.strictEqual(border.comment, ":\r\n\r\n")
  })
})

describe("the pulse of an event stream", () => {
  it("beats within a second, then at least every 25 seconds, and waits for the end of an event", () => {
    const pulse = new Pulse(0)
    assert.isUndefined(pulse.beat(firstAfter - 1))
    assert.strictEqual(pulse.beat(firstAfter), ":\n\n")
    assert.isBelow(firstAfter, 750)
    assert.isUndefined(pulse.beat(firstAfter + every - 1))
    pulse.push(Buffer.from("data: half"))
    assert.isUndefined(pulse.beat(firstAfter + every))
    pulse.push(Buffer.from(" of it\n\n"))
    assert.strictEqual(pulse.beat(firstAfter + every + 100), ":\n\n")
    assert.isBelow(every, 24_000)
  })
})
