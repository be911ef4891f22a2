import { didYouMean } from "#src/format/nearest.ts"
import { Either } from "effect"

/** A JSON Schema node from an untrusted server: it may have any shape. */
type Node = Readonly<Record<string, unknown>>

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value)

/** Follows `#/…` references inside the document, a few steps at most because they may be circular. */
const resolve = (root: Node, value: unknown, steps = 8): Node => {
  if (!isNode(value)) return {}
  const { $ref } = value
  if (typeof $ref !== "string" || !$ref.startsWith("#/") || steps === 0) return value
  const target = $ref.slice(2).split("/").reduce<unknown>((node, part) => isNode(node) ? node[part] : undefined, root)
  return resolve(root, target, steps - 1)
}

/** The type names a value may have; empty when the schema does not say. */
const typesOf = (root: Node, value: unknown, depth = 4): ReadonlySet<string> => {
  const node = resolve(root, value)
  const own = [node.type].flat().filter((type) => typeof type === "string")
  const listed = Array.isArray(node.enum) ? node.enum.map((item) => item === null ? "null" : typeof item) : []
  const nested = depth === 0
    ? []
    : [node.anyOf, node.oneOf, node.allOf].filter(Array.isArray).flat().flatMap((
      part
    ) => [...typesOf(root, part, depth - 1)])
  return new Set([...own, ...(own.length === 0 ? listed : []), ...nested])
}

/** Whether a text may be a value as it is: there are strings, and not only some words of which it is none. */
const isText = (root: Node, value: unknown, text: string, depth = 4): boolean => {
  const node = resolve(root, value)
  if (Array.isArray(node.enum)) return node.enum.includes(text)
  if (node.const !== undefined) return node.const === text
  if ([node.type].flat().includes("string")) return true
  const nested = [node.anyOf, node.oneOf, node.allOf].filter(Array.isArray).flat()
  return depth > 0 && nested.some((part) => isText(root, part, text, depth - 1))
}

const json = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Converts text from a command line to a type of the schema. Left: the types it would have to be. */
const coerce = (types: ReadonlySet<string>, text: string, mayBeText: boolean): Either.Either<unknown, string> => {
  const value = json(text.trim())
  if (types.has("number") && typeof value === "number") return Either.right(value)
  if (types.has("integer") && Number.isInteger(value)) return Either.right(value)
  if (types.has("boolean") && typeof value === "boolean") return Either.right(value)
  if (types.has("array") && Array.isArray(value)) return Either.right(value)
  if (types.has("object") && isNode(value)) return Either.right(value)
  if (types.has("null") && value === null && !mayBeText) return Either.right(null)
  if (types.size === 0 || types.has("string")) return Either.right(text)
  const names = [...types].map((type) => ({ array: "a JSON list", object: "a JSON object" })[type] ?? type)
  return Either.left(names.join(" or "))
}

/**
 * Parses `k=v` pairs by the tool's input schema; they override the fields of `base`. Repeating a key of array type
 * appends to the list. Left: one sentence that names the pair.
 */
export const parseArguments = (
  schema: unknown,
  pairs: ReadonlyArray<string>,
  base: Readonly<Record<string, unknown>> = {}
): Either.Either<Record<string, unknown>, string> => {
  const root = isNode(schema) ? schema : {}
  const properties = isNode(root.properties) ? root.properties : {}
  const values = new Map(Object.entries(base))
  const seenKeys = new Set<string>()
  for (const pair of pairs) {
    const at = pair.indexOf("=")
    if (at < 1) return Either.left(`--arg takes name=value, not "${pair}".`)
    const key = pair.slice(0, at)
    const text = pair.slice(at + 1)
    const isDeclared = Object.hasOwn(properties, key)
    if (!isDeclared && root.additionalProperties === false) {
      const names = Object.keys(properties)
      const list = names.length === 0 ? "It takes none." : `It takes: ${names.join(", ")}.`
      return Either.left(`The tool has no argument "${key}".${didYouMean(key, names)} ${list}`)
    }
    const property = isDeclared ? resolve(root, properties[key]) : {}
    const types = typesOf(root, property)
    const list = types.has("array") && !types.has("string") && !Array.isArray(json(text))
    const value = coerce(list ? typesOf(root, property.items) : types, text, isText(root, property, text))
    if (Either.isLeft(value)) return Either.left(`The argument "${key}" must be ${value.left}, not "${text}".`)
    const earlier = seenKeys.has(key) ? values.get(key) : undefined
    values.set(key, list ? [...(Array.isArray(earlier) ? earlier : []), value.right] : value.right)
    seenKeys.add(key)
  }
  return Either.right(Object.fromEntries(values))
}

/** The text of `--input`: an object of arguments. */
export const parseJsonArguments = (text: string): Either.Either<Record<string, unknown>, string> => {
  const value = json(text)
  return isNode(value)
    ? Either.right({ ...value })
    : Either.left("--input takes a JSON object, such as '{\"limit\":5}'.")
}
