import { Predicate } from "effect"

type JsonSchema = Readonly<Record<string, unknown>>

/** What the schema library says by itself of a rule that stands beside it as `minimum`, `pattern` or `maxItems`. */
const generated = {
  title: /^\w+\(.*\)$|^(?:int|(?:non)?(?:positive|negative))$/is,
  description: /^an? (?:(?:non-)?(?:positive|negative) )?(number|integer|string|array)\b/
} as const

const isSaidAlready = (name: string, value: unknown) =>
  (name === "title" || name === "description") && typeof value === "string" && generated[name].test(value) ||
  name === "required" && Array.isArray(value) && value.length === 0

const isInt = (schema: JsonSchema) => schema["$ref"] === "#/$defs/Int"

/** Names below these are a caller's fields, whatever they are called. */
const isOfNames = (name: string) => name === "properties" || name === "$defs"

/**
 * A JSON Schema that says the same in fewer words: no generated titles and descriptions, integers in place of references
 * to one, no lists of nothing.
 */
export const plainSchema = (schema: JsonSchema): JsonSchema => {
  const { allOf } = schema
  // A refinement of a described schema repeats it; one part with all that stands beside it is that part.
  if (Array.isArray(allOf) && allOf.length === 1 && Predicate.isRecord(allOf[0])) {
    const { allOf: _, ...rest } = schema
    return plainSchema({ ...allOf[0], ...rest })
  }
  const entries = Object.entries(schema).flatMap(([name, value]): ReadonlyArray<readonly [string, unknown]> => {
    if (isSaidAlready(name, value)) return []
    if (name === "$ref" && isInt(schema)) return [["type", "integer"]]
    if (isOfNames(name) && Predicate.isRecord(value)) {
      const inner = Object.entries(value).filter(([key]) => name !== "$defs" || key !== "Int")
      return name === "$defs" && inner.length === 0
        ? []
        : [[name, Object.fromEntries(inner.map(([key, one]) => [key, plain(one)]))]]
    }
    // A default, an example or a list of values is data.
    return [[name, ["default", "examples", "enum", "const"].includes(name) ? value : plain(value)]]
  })
  return Object.fromEntries(entries)
}

const plain = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(plain) : Predicate.isRecord(value) ? plainSchema(value) : value

/** The schema without the lengths of texts: most are the same, and an error names one that is passed. */
export const withoutLengths = <A extends JsonSchema>(schema: A): A => {
  const shorten = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shorten)
    if (!Predicate.isRecord(value)) return value
    const isText = value["type"] === "string"
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, inner]) =>
        isText && (name === "maxLength" || name === "minLength") ? [] : [[name, shorten(inner)]]
      )
    )
  }
  return shorten(schema) as A
}
