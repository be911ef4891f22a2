import { walkJson } from "#src/imports/json-walk.ts"
import { describe, expect, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"

const walk = (text: string | Buffer) => {
  const json = Buffer.from(text)
  const members: Array<[string, unknown]> = []
  const elements: Array<unknown> = []
  const value = (start: number, end: number) => JSON.parse(json.toString("utf8", start, end)) as unknown
  const wrong = walkJson(json, "list", {
    begin: () => undefined,
    member: (key, start, end) => void members.push([key, value(start, end)]),
    element: (start, end) => void elements.push(value(start, end))
  })
  return { wrong, members, elements }
}

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const spaced = (value: unknown) => JSON.stringify(value, undefined, 2)

describe("the walk over a JSON text", () => {
  it("finds the fields of the root and the elements of the list, whatever they are", () => {
    const root = fc.dictionary(fc.oneof(fc.string(), fc.constant("list")), fc.jsonValue({ maxDepth: 5 }))
    fc.assert(
      fc.property(root, fc.boolean(), (value, pretty) => {
        const { elements, members, wrong } = walk(pretty ? spaced(value) : JSON.stringify(value))
        expect(wrong).toBeUndefined()
        expect(Object.fromEntries(members)).toEqual(JSON.parse(JSON.stringify(value)))
        const list = (JSON.parse(JSON.stringify(value)) as Record<string, unknown>)["list"]
        expect(elements).toEqual(Array.isArray(list) ? list : [])
      }),
      { numRuns: 1000 }
    )
  })

  it("takes for JSON what JSON.parse does, and nothing else", () => {
    const broken = fc.tuple(
      fc.jsonValue({ maxDepth: 3 }),
      fc.nat(),
      fc.constantFrom(..."{}[]\",:\\0-.eE+u \n\ttn/\u0001")
    )
      .map(([value, at, extra]) => {
        const text = JSON.stringify(value)
        const place = at % (text.length + 1)
        return at % 2 === 0
          ? text.slice(0, place) + extra + text.slice(place)
          : text.slice(0, place) + text.slice(place + 1)
      })
    const soup = fc.array(fc.constantFrom(..."{}[]\",:\\0-.eE+u1 \n", "true", "null", "\"a\"", "1.5", "-0")).map((
      parts
    ) => parts.join(""))
    fc.assert(
      fc.property(fc.oneof(broken, soup, fc.json()), (text) => {
        expect(walk(text).wrong === undefined, text).toEqual(isJson(text))
      }),
      { numRuns: 5000 }
    )
  })

  it.each([
    "01",
    "1.",
    ".5",
    "-",
    "1e",
    "+1",
    "\"\\x\"",
    "\"\\u12g4\"",
    "\"\n\"",
    "nul",
    "[1,]",
    "{\"a\":1,}",
    "{a:1}",
    "",
    " "
  ])(
    "refuses %j",
    (text) => {
      expect([isJson(text), walk(text).wrong]).toEqual([false, expect.stringMatching(/JSON/)])
    }
  )

  it("refuses what nests too deep, without a stack of its own", () => {
    expect(walk("[".repeat(5_000_000)).wrong).toMatch(/deep/)
    expect(walk(`{"a":${"[".repeat(99)}${"]".repeat(99)}}`).wrong).toBeUndefined()
    expect(walk(`{"a":${"[".repeat(100)}${"]".repeat(100)}}`).wrong).toMatch(/deep/)
  })
})
