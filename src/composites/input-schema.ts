import { type McpToolDefinition } from "#src/servers/McpFeatures.ts"
import { canonicalJson } from "#src/shared/canonical-json.ts"
import { Predicate } from "effect"

export type JsonSchema = McpToolDefinition["inputSchema"]

/** The argument of a merged tool that names members. */
export const businessesArgument = "businesses"
/** At most so many members are asked by one call. */
export const mostBusinesses = 10

/** How many of so many members one call asks, in words. */
export const reachOf = (count: number) =>
  count <= mostBusinesses ? `up to ${count}` : `up to ${mostBusinesses} of its ${count}`

/** Keywords that say nothing about which arguments are valid (JSON Schema 2020-12, Validation, 9). */
const wordsAlone = new Set(["$schema", "$id", "$comment", "title", "description", "examples"])
/** Keywords whose value has schemas by names, which may be called like a keyword. */
const named = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"])
/** Keywords whose value is data. */
const data = new Set(["const", "enum", "default"])

/** Of an object without fields, or with none that is required, both ways to say so are one. */
const isEmpty = (key: string, value: unknown) =>
  key === "required" && Array.isArray(value) && value.length === 0 ||
  named.has(key) && Predicate.isRecord(value) && Object.keys(value).length === 0

const meaning = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(meaning)
  if (!Predicate.isRecord(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).filter(([key, value]) => !wordsAlone.has(key) && !isEmpty(key, value)).map((
      [key, value]
    ) => [
      key,
      data.has(key)
        ? value
        : named.has(key) && Predicate.isRecord(value)
        ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, meaning(one)]))
        : meaning(value)
    ])
  )
}

/** The same arguments without anybody's words. */
export const withoutWords = (schema: JsonSchema): JsonSchema => meaning(schema) as JsonSchema

/** Two schemas with the same text take the same arguments: order of members and descriptions don't count. */
export const sameArguments = (schema: JsonSchema): string => canonicalJson(JSON.stringify(meaning(schema)))

const propertiesOf = (schema: JsonSchema) => Predicate.isRecord(schema["properties"]) ? schema["properties"] : {}

/** Whether `businesses` can be added: a tool that has such an argument itself would lose it. */
export const takesBusinesses = (schema: JsonSchema) => !(businessesArgument in propertiesOf(schema))

/** A merged tool's input schema: the members' own, and whom to ask. */
export const withBusinesses = (schema: JsonSchema, slugs: ReadonlyArray<string>): JsonSchema => ({
  ...schema,
  properties: {
    ...propertiesOf(schema),
    [businessesArgument]: {
      type: "array",
      items: { type: "string" },
      minItems: 1,
      maxItems: mostBusinesses,
      uniqueItems: true,
      description: `Slugs of the businesses to ask, ${
        slugs.length <= mostBusinesses
          ? `of ${slugs.join(", ")}; left out: all of them`
          : `which composite_members lists; left out: the ${mostBusinesses} best ranked that can be called, and the ` +
            "answer's notAsked names the rest"
      }`
    }
  }
})
