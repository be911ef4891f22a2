import { isBlank } from "#src/format/blank.ts"
import { inWords } from "#src/format/issues.ts"
import { ParseResult, Predicate, Schema } from "effect"

/** PostgreSQL stores no NUL, and a lone surrogate is not text (Unicode 3.9, D91). */
const isStorable = (text: string) => !text.includes("\u0000") && text.isWellFormed()

/** The number of characters as JSON Schema and PostgreSQL count them: Unicode code points. */
export const characters = (text: string) => {
  let count = 0
  for (const _ of text) count++
  return count
}

/** Whether a text has at most so many characters; counts them only when the length does not decide. */
const fits = (text: string, max: number) => text.length <= max || text.length <= 2 * max && characters(text) <= max

/** A caller's text that can be stored: no NUL, no lone surrogate, at most `max` characters. */
export const Text = (max: number) =>
  Schema.String.pipe(
    Schema.filter((text) => fits(text, max) || `must be at most ${max} characters`, {
      jsonSchema: { maxLength: max }
    }),
    Schema.filter((text) => isStorable(text) || "must not contain NUL or broken surrogates", { jsonSchema: {} })
  )

/** A name: not blank, no control characters, at most 255 characters (the contract's limit). */
export const Name = Text(255).pipe(
  Schema.filter((text) => !isBlank(text) || "must not be blank", { jsonSchema: { minLength: 1 } }),
  Schema.filter((text) => !/\p{Cc}/u.test(text) || "must not contain control characters", { jsonSchema: {} })
)

/** An input object: unknown fields are rejected, and the error lists every problem. */
export const Input = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotations({
    parseOptions: { onExcessProperty: "error", errors: "all" },
    decodingFallback: inWords
  })

/** The parameters of a query that another specification defines: those that we don't know are ignored. */
export const OpenQuery = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotations({
    parseOptions: { onExcessProperty: "ignore", errors: "all" },
    decodingFallback: inWords
  })

/** The parameters of a query; unknown ones are rejected as in a body (docs/decisions/unknown-parameters.md). */
export const Query = <Fields extends Schema.Struct.Fields>(fields: Fields) => Input(fields)

const decimal = (form: RegExp) =>
  Schema.transformOrFail(Schema.String, Schema.Number, {
    strict: true,
    decode: (text, _, ast) =>
      form.test(text) ? ParseResult.succeed(Number(text)) : ParseResult.fail(new ParseResult.Type(ast, text)),
    encode: (number) => ParseResult.succeed(String(number))
  })

/** A number in a query, in plain digits only: other forms that JavaScript reads (`1e1`, `0x10`, ` 5`) are mistakes. */
export const QueryNumber = decimal(/^-?\d+(\.\d+)?$/)
/** The same for a count, without sign and point. */
export const QueryCount = decimal(/^\d+$/)

/** Input without fields: an empty struct alone would accept anything. */
export const NoInput = Schema.Struct({}).pipe(
  Schema.filter(
    (value) =>
      Predicate.isRecord(value)
        ? Object.keys(value).map((name) => ({ path: [name], message: "is not a known field" }))
        : "must be an object",
    { jsonSchema: {} }
  )
)

/** A list that reports its first error only: formatting very many errors would take seconds. */
export const List = <A, I, R>(item: Schema.Schema<A, I, R>) =>
  Schema.Array(item).annotations({ parseOptions: { errors: "first" } })

/** A field that may be absent, but not `undefined` nor null. */
export const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

/** A timestamp: a Date in rows, ISO 8601 in UTC in JSON. */
export const Timestamp = Schema.Date.annotations({ jsonSchema: { type: "string", format: "date-time" } })
