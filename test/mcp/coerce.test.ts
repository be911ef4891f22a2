import { Input, optional } from "#src/shared/text.ts"
import { coercedBy } from "#tools/coerce.ts"
import { FastCheck as fc, Schema } from "effect"
import { assert, describe, it } from "vitest"

const schema = Input({
  count: Schema.optionalWith(Schema.Number.pipe(Schema.int(), Schema.between(1, 100)), {
    exact: true,
    default: () => 20
  }),
  size: optional(Schema.Literal(256, 512)),
  seconds: optional(Schema.NullOr(Schema.Int)),
  on: optional(Schema.Boolean),
  name: optional(Schema.String),
  either: optional(Schema.Union(Schema.Number, Schema.String)),
  word: optional(Schema.Union(Schema.Literal("7"), Schema.Number)),
  place: optional(Schema.Struct({ lat: Schema.Number, label: Schema.String })),
  hours: optional(Schema.Record({
    key: Schema.String,
    value: Schema.Union(Schema.Literal("closed"), Schema.Struct({ open: Schema.Number }))
  })),
  many: optional(Schema.Array(Schema.Number)),
  free: optional(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
})
const coerced = coercedBy(schema)

describe("a tool's arguments", () => {
  it("take a number or boolean that is written as text, where the schema has one, at any depth", () => {
    const written = {
      count: "5",
      size: "512",
      seconds: "-60",
      on: "false",
      place: { lat: "41.5", label: "1" },
      hours: { monday: { open: "9" }, sunday: "closed" },
      many: ["1", 2, "3.0"]
    }
    assert.deepStrictEqual(coerced(written), {
      count: 5,
      size: 512,
      seconds: -60,
      on: false,
      place: { lat: 41.5, label: "1" },
      hours: { monday: { open: 9 }, sunday: "closed" },
      many: [1, 2, 3]
    })
  })

  it("stay text where text is taken, or anything is", () => {
    const args = { name: "5", either: "5", word: "7", free: { deep: "5", on: "true" }, unknown: "5" }
    assert.deepStrictEqual(coerced(args), args)
  })

  it("stay as they are where what is written is no plain number, true or false", () => {
    for (const text of ["", " 5", "5 ", "1e1", "0x10", "+5", ".5", "5.", "--5", "five", "١", "Infinity", "null"]) {
      assert.deepStrictEqual(coerced({ count: text, on: text, many: [text] }), { count: text, on: text, many: [text] })
    }
    for (const text of ["TRUE", "1", "yes", "0"]) assert.deepStrictEqual(coerced({ on: text }), { on: text })
  })

  it("that fit already are not touched, whatever they are", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => {
      assert.deepStrictEqual(coercedBy(Schema.Unknown)(value), value)
      assert.deepStrictEqual(coercedBy(Schema.String)(value), value)
    }))
    const isFit = Schema.is(Schema.encodedSchema(schema))
    const args = fc.record({ count: fc.integer(), on: fc.boolean(), name: fc.string(), free: fc.object() }, {
      requiredKeys: []
    })
    fc.assert(fc.property(args, (value) => {
      assert.isTrue(isFit(value))
      assert.deepStrictEqual(coerced(value), value)
    }))
  })

  it("of any number are the number, written as JSON writes it without an exponent", () => {
    fc.assert(fc.property(fc.integer(), (count) => {
      assert.deepStrictEqual(coerced({ count: String(count) }), { count })
    }))
  })
})
