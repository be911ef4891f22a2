import { parseArguments, parseJsonArguments } from "#src/cli/mcp/arguments.ts"
import { nearest } from "#src/format/nearest.ts"
import { Either, FastCheck as fc } from "effect"
import { describe, expect, it } from "vitest"

const schema = {
  type: "object",
  properties: {
    name: { type: "string" },
    count: { type: "integer" },
    price: { type: "number" },
    exact: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    sizes: { type: "array", items: { $ref: "#/$defs/Size" } },
    where: { type: "object" },
    maybe: { anyOf: [{ type: "integer" }, { type: "null" }] },
    word: { anyOf: [{ type: "string", enum: ["all", "none"] }, { type: "object" }, { type: "null" }] },
    text: { anyOf: [{ type: "string" }, { type: "null" }] },
    either: { type: ["string", "number"] },
    level: { enum: [1, 2, 3] },
    round: { $ref: "#/$defs/Round" },
    page: { allOf: [{ $ref: "#/$defs/Size", minimum: 1 }, { maximum: 100 }] },
    open: {}
  },
  additionalProperties: false,
  $defs: { Size: { type: "integer" }, Round: { $ref: "#/$defs/Round" } }
}

const parse = (...pairs: ReadonlyArray<string>) => parseArguments(schema, pairs)

describe("k=v arguments", () => {
  it.each([
    ["name=5", { name: "5" }],
    ["name=a=b=c", { name: "a=b=c" }],
    ["name=", { name: "" }],
    ["count=5", { count: 5 }],
    ["price=8.5", { price: 8.5 }],
    ["exact=true", { exact: true }],
    ["tags=[\"a\",\"b\"]", { tags: ["a", "b"] }],
    ["tags=a", { tags: ["a"] }],
    ["sizes=3", { sizes: [3] }],
    ["where={\"city\":\"Millbrook\"}", { where: { city: "Millbrook" } }],
    ["maybe=null", { maybe: null }],
    // Nobody means the word where it is none of those that there are.
    ["word=null", { word: null }],
    ["word=none", { word: "none" }],
    ["word=other", { word: "other" }],
    ["text=null", { text: "null" }],
    ["maybe=4", { maybe: 4 }],
    ["either=4", { either: 4 }],
    ["either=four", { either: "four" }],
    ["level=2", { level: 2 }],
    ["page=2", { page: 2 }],
    ["open=anything", { open: "anything" }],
    ["round=x", { round: "x" }]
  ])("%s is read by the schema", (pair, expected) => {
    expect(parse(pair)).toEqual(Either.right(expected))
  })

  it("a repeated list gathers, a repeated value is replaced, and pairs win over the JSON", () => {
    expect(parse("tags=a", "tags=b", "count=1", "count=2")).toEqual(Either.right({ tags: ["a", "b"], count: 2 }))
    expect(parseArguments(schema, ["count=1", "tags=c"], { count: 9, name: "x", tags: ["a"] })).toEqual(
      Either.right({ count: 1, name: "x", tags: ["c"] })
    )
  })

  it.each([
    ["count=many", "The argument \"count\" must be integer, not \"many\"."],
    ["count=1.5", "must be integer"],
    ["exact=yes", "must be boolean"],
    ["where=here", "must be a JSON object"],
    ["sizes=big", "must be integer"],
    ["page=two", "must be integer"],
    ["name", "--arg takes name=value, not \"name\"."],
    ["=5", "--arg takes name=value"],
    ["cuont=5", "Did you mean \"count\"?"]
  ])("%s is refused with a sentence", (pair, message) => {
    const result = parse(pair)
    expect(Either.isLeft(result) && result.left).toContain(message)
  })

  it("any schema and any pair give an answer", () => {
    fc.assert(fc.property(fc.jsonValue(), fc.array(fc.string()), (schema, pairs) => {
      expect(Either.isEither(parseArguments(schema, pairs))).toBe(true)
    }))
  })

  it("text of a string argument is kept as it is", () => {
    fc.assert(fc.property(fc.string(), (text) => {
      expect(parse(`name=${text}`)).toEqual(Either.right({ name: text }))
    }))
  })

  it("--json takes an object and nothing else", () => {
    expect(parseJsonArguments("{\"a\":[1]}")).toEqual(Either.right({ a: [1] }))
    for (const text of ["[]", "5", "null", "{", ""]) expect(Either.isLeft(parseJsonArguments(text))).toBe(true)
  })
})

it("the nearest name is one with few mistakes, or one that holds what was typed; else none", () => {
  const names = ["browse_catalog", "get_item", "get_hours"]
  expect(nearest("get_itme", names)).toBe("get_item")
  expect(nearest("BROWSE_CATALOG", names)).toBe("browse_catalog")
  expect(nearest("browse", names)).toBe("browse_catalog")
  expect(nearest("deploy", names)).toBeUndefined()
  expect(nearest("x", [])).toBeUndefined()
})
