import { lineOf } from "#src/shared/outside-text.ts"
import { Predicate } from "effect"
import { documentLimits, type DocumentTool, type Issue } from "./CapabilityDoc.ts"

/** What a document says of itself; undefined where it says nothing. */
export interface DocumentFields {
  readonly name: string | undefined
  readonly description: string | undefined
  readonly tools: ReadonlyArray<DocumentTool> | undefined
}

/** A part of a document that can't be read; `path` as in `tools[3].name`. */
export class UnreadablePart extends Error {
  readonly issue: Issue
  constructor(path: string, message: string) {
    super(message)
    this.issue = { path, message }
  }
}

const textOf = (value: unknown, path: string, most: number): string | undefined => {
  if (value === undefined || value === null) return undefined
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
    throw new UnreadablePart(path, "must be text")
  }
  const line = lineOf(String(value), most)
  return line === "" ? undefined : line
}

const own = (record: Readonly<Record<string, unknown>>, name: string) =>
  Object.hasOwn(record, name) ? record[name] : undefined

const namedTool = (name: unknown, description: unknown, path: string): DocumentTool => {
  const known = textOf(name, `${path}.name`, documentLimits.toolName)
  if (known === undefined) throw new UnreadablePart(`${path}.name`, "is required")
  return { name: known, description: textOf(description, `${path}.description`, documentLimits.description) ?? "" }
}

/** `search`, `{ name: search, description: … }`, or `{ search: … }`. */
const toolOf = (value: unknown, path: string): DocumentTool => {
  if (!Predicate.isRecord(value)) return namedTool(value, undefined, path)
  const [only, ...more] = Object.entries(value)
  return only !== undefined && more.length === 0 && !/^(name|description)$/.test(only[0]) && typeof only[1] === "string"
    ? namedTool(only[0], only[1], path)
    : namedTool(own(value, "name"), own(value, "description"), path)
}

const entryOf = ([name, value]: readonly [string, unknown]) =>
  namedTool(name, Predicate.isRecord(value) ? own(value, "description") : value, `tools.${lineOf(name, 60)}`)

/** A list, a mapping from names to descriptions, or names separated by commas. */
const toolsOf = (value: unknown): ReadonlyArray<DocumentTool> | undefined => {
  if (value === undefined || value === null) return undefined
  const listed = typeof value === "string"
    ? value.split(",").filter((name) => lineOf(name, 1) !== "")
    : Predicate.isRecord(value)
    ? Object.entries(value)
    : value
  if (!Array.isArray(listed)) throw new UnreadablePart("tools", "must be a list of { name, description }")
  tooManyTools(listed.length)
  return Predicate.isRecord(value)
    ? Object.entries(value).map(entryOf)
    : listed.map((tool: unknown, at) => toolOf(tool, `tools[${at}]`))
}

export const tooManyTools = (count: number) => {
  if (count > documentLimits.tools) {
    throw new UnreadablePart("tools", `must be at most ${documentLimits.tools}, and are ${count}`)
  }
}

/**
 * Keys that begin with `hub:` are what the hub says of a listing (docs/hub.md): a document that has them would pass for
 * the hub's own. Compared as a reader sees them.
 */
const claimsHub = (key: string) => /^['"]?hub\s*:/i.test(lineOf(key.trimStart().slice(0, 40).normalize("NFKC"), 40))

/** Reads the fields of a document's root, which must be an object. */
export const fieldsOf = (root: unknown, what: string): DocumentFields => {
  if (!Predicate.isRecord(root)) throw new UnreadablePart("file", `${what} must be an object`)
  const metadata = own(root, "metadata")
  const keys = [...Object.keys(root), ...(Predicate.isRecord(metadata) ? Object.keys(metadata) : [])]
  const claimed = keys.find(claimsHub)
  if (claimed !== undefined) {
    throw new UnreadablePart(lineOf(claimed, 60), "is a key that the hub alone sets: leave it out")
  }
  return {
    name: textOf(own(root, "name"), "name", documentLimits.name),
    description: textOf(own(root, "description"), "description", documentLimits.description),
    tools: toolsOf(own(root, "tools"))
  }
}
