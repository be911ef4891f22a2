import { CompositeRow } from "#src/composites/CompositesRepo.ts"
import { MemberRow } from "#src/composites/member-sql.ts"
import { decodePassing } from "#src/shared/passing.ts"
import { Arbitrary, Effect, Either, FastCheck, Schema } from "effect"
import { describe, expect, it } from "vitest"

const Point = Schema.Struct({ x: Schema.Int, y: Schema.optional(Schema.Number) })
const Rows = Schema.Array(Schema.Struct({
  id: Schema.NonEmptyString.pipe(Schema.brand("Id")),
  state: Schema.Literal("on", "off", null),
  at: Schema.NullOr(Schema.DateFromSelf),
  point: Schema.NullOr(Point),
  data: Schema.Unknown,
  pair: Schema.Tuple(Schema.String, Schema.Boolean)
}))
const schemas: ReadonlyArray<readonly [string, Schema.Schema.AnyNoContext, isPassed: boolean]> = [
  ["rows of many kinds", Rows, true],
  ["a tuple of one row", Schema.Tuple(Point), true],
  ["at least one row", Schema.NonEmptyArray(Point), true],
  ["members of composites", Schema.Array(MemberRow), true],
  ["composites", Schema.Array(CompositeRow), true],
  [
    "two objects, of which the first fits what the second does",
    Schema.Union(Point, Schema.Struct({ x: Schema.Int, z: Schema.Int })),
    false
  ],
  ["a number in text", Schema.Array(Schema.Struct({ n: Schema.NumberFromString })), false],
  ["a column alone", Schema.Struct({ n: Schema.Int }).pipe(Schema.pluck("n")), false],
  ["a field with a default", Schema.Struct({ n: Schema.optionalWith(Schema.Int, { default: () => 1 }) }), false],
  ["fields of any name", Schema.Record({ key: Schema.String, value: Schema.Int }), false]
]

/** The value with something changed within: a field more, one less, or another value. */
const spoiled = (value: unknown, where: ReadonlyArray<number>, by: unknown): unknown => {
  const [at = 0, ...deeper] = where
  if (typeof value !== "object" || value === null || value instanceof Date || where.length === 0) return by
  const keys = [...Object.keys(value), Array.isArray(value) ? String(value.length) : "more"]
  const key = keys[at % keys.length]!
  const copy: Record<string, unknown> = Array.isArray(value) ? [...value] as never : { ...value }
  if (by === undefined && !Array.isArray(copy)) delete copy[key]
  else copy[key] = spoiled(copy[key], deeper, by)
  return copy
}

describe("what passes a check in place of a decoder", () => {
  it.each(schemas)("is what the decoder makes of it, and fails as it does: %s", (_, schema) => {
    const passing = decodePassing(schema)
    const decode = Schema.decodeUnknown(schema)
    const value = Arbitrary.make(Schema.encodedSchema(schema))
    const change = FastCheck.record({
      where: FastCheck.array(FastCheck.nat(20), { maxLength: 3 }),
      by: FastCheck.anything()
    })
    FastCheck.assert(
      FastCheck.property(value, FastCheck.option(change), (made, to) => {
        const asked = to === null ? made : spoiled(made, to.where, to.by)
        const [ours, theirs] = [passing, decode].map((read) =>
          Either.mapLeft(Effect.runSync(Effect.either(read(asked))), String)
        )
        expect(ours).toStrictEqual(theirs)
      }),
      { numRuns: 60 }
    )
  })

  it.each(schemas)("is made anew only where it may be changed: %s", (_, schema, isPassed) => {
    FastCheck.assert(
      FastCheck.property(Arbitrary.make(Schema.encodedSchema(schema)), (made) => {
        FastCheck.pre(typeof made === "object")
        const passed: unknown = Effect.runSync(Effect.orElseSucceed(decodePassing(schema)(made), () => undefined))
        if (passed !== undefined) expect(passed === made).toBe(isPassed)
      }),
      { numRuns: 30 }
    )
  })
})
