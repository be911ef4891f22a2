import { type Document, type JsonSchema } from "./Document.ts"

const indented = (text: string) => text.replaceAll("\n", "\n  ")

const limits: ReadonlyArray<readonly [keyof JsonSchema, string]> = [
  ["minLength", "at least "],
  ["maxLength", "at most "],
  ["minimum", "from "],
  ["maximum", "to "],
  ["minItems", "at least "],
  ["maxItems", "at most "]
]

const limitsOf = (schema: JsonSchema) =>
  limits.flatMap(([name, word]) => schema[name] === undefined ? [] : [`${word}${String(schema[name])}`]).join(", ")

const note = (schema: JsonSchema) => {
  const said = [schema.description, limitsOf(schema)].filter((text) => text !== undefined && text !== "").join("; ")
  return said === "" ? "" : `  // ${said}`
}

/** A schema in a few lines that people read. */
export const shapeOf = ({ components }: Document) => {
  const shape = (schema: JsonSchema): string => {
    if (schema.$ref !== undefined) return shape(components.schemas[schema.$ref.split("/").at(-1)!] ?? {})
    if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ")
    const either = schema.anyOf ?? schema.oneOf
    if (either !== undefined) return either.map(shape).join(" | ")
    if (schema.type === "array") return `[ ${shape(schema.items ?? {})} ]`
    const properties = Object.entries(schema.properties ?? {})
    if (properties.length > 0) {
      const lines = properties.map(([name, property]) => {
        const optional = schema.required?.includes(name) === true ? "" : "?"
        return `\n  ${name}${optional}: ${indented(shape(property))}${note(property)}`
      })
      return `{${lines.join("")}\n}`
    }
    if (typeof schema.additionalProperties === "object") return `{ [name]: ${shape(schema.additionalProperties)} }`
    return schema.format ?? schema.type ?? "any"
  }
  return shape
}
