import { isBlank } from "#src/format/blank.ts"
import { inWords } from "#src/format/issues.ts"
import { ParseResult, Predicate, Schema } from "effect"

/** PostgreSQL stores no NUL, and half a surrogate pair is not text (Unicode 3.9, D91). */
const storable = (text: string) => !text.includes("\u0000") && text.isWellFormed()

/** How many characters a text has, as JSON Schema and PostgreSQL count them: Unicode code points. */
export const characters = (text: string) => {
  let count = 0
  for (const _ of text) count++
  return count
}

/** Whether a text has at most so many characters, without counting what can't have. */
const fits = (text: string, max: number) => text.length <= max || text.length <= 2 * max && characters(text) <= max

/** Text of the caller's that can be stored: no NUL, no lone surrogate, at most `max` characters. */
export const Text = (max: number) =>
  Schema.String.pipe(
    Schema.filter((text) => fits(text, max) || `must be at most ${max} characters`, {
      jsonSchema: { maxLength: max }
    }),
    Schema.filter((text) => storable(text) || "must not contain NUL or broken surrogates", { jsonSchema: {} })
  )

/** A name as people give it: not blank, no control characters, at most 255 characters (the contract's limit). */
export const Name = Text(255).pipe(
  Schema.filter((text) => !isBlank(text) || "must not be blank", { jsonSchema: { minLength: 1 } }),
  Schema.filter((text) => !/\p{Cc}/u.test(text) || "must not contain control characters", { jsonSchema: {} })
)

/** An input object: unknown fields are refused, and every problem is told at once. */
export const Input = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotations({
    parseOptions: { onExcessProperty: "error", errors: "all" },
    decodingFallback: inWords
  })

/** The parameters of a query, of which those that nobody knows are passed over. */
export const Query = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotations({
    parseOptions: { onExcessProperty: "ignore", errors: "all" },
    decodingFallback: inWords
  })

const written = (form: RegExp) =>
  Schema.transformOrFail(Schema.String, Schema.Number, {
    strict: true,
    decode: (text, _, ast) =>
      form.test(text) ? ParseResult.succeed(Number(text)) : ParseResult.fail(new ParseResult.Type(ast, text)),
    encode: (number) => ParseResult.succeed(String(number))
  })

/** A number in a query, written in plain digits: what JavaScript reads besides (`1e1`, `0x10`, ` 5`) is a mistake. */
export const QueryNumber = written(/^-?\d+(\.\d+)?$/)
/** The same for a count, which has neither sign nor point. */
export const QueryCount = written(/^\d+$/)

/** The arguments of what takes none: an empty struct alone would take anything. */
export const NoInput = Schema.Struct({}).pipe(
  Schema.filter(
    (value) =>
      Predicate.isRecord(value)
        ? Object.keys(value).map((name) => ({ path: [name], message: "is not a known field" }))
        : "must be an object",
    { jsonSchema: {} }
  )
)

/** A list, of which the first fault is told: a long list of faults would take seconds to put into words. */
export const List = <A, I, R>(item: Schema.Schema<A, I, R>) =>
  Schema.Array(item).annotations({ parseOptions: { errors: "first" } })

/** A field that may be absent, but not `undefined` nor null. */
export const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

/** A timestamp as rows hold it (a Date) and as JSON shows it (ISO 8601, UTC). */
export const Timestamp = Schema.Date.annotations({ jsonSchema: { type: "string", format: "date-time" } })
