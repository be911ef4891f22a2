import { Predicate } from "effect"
import { type Tool } from "./Tool.ts"

/** The cursor of the page after, in each of the shapes that lists of the contract have. */
const cursorOf = (value: unknown): unknown => {
  if (!Predicate.isRecord(value)) return undefined
  const { cursor, hasMore, meta, next_cursor: next } = value
  if (Predicate.isRecord(meta)) return cursorOf(meta)
  return hasMore === true ? cursor : next
}

/** Longer arguments are not said again. */
const mostCharacters = 600

/** The call that reads the next page, as an agent makes it; undefined on the last one. */
export const nextPage = <R>(tool: Pick<Tool<R>, "inputSchema" | "name">, args: unknown, value: unknown) => {
  const cursor = cursorOf(value)
  const fields = Object.keys(tool.inputSchema["properties"] ?? {})
  const argument = ["cursor", "before"].find((name) => fields.includes(name))
  if (typeof cursor !== "string" || argument === undefined) return undefined
  const next = JSON.stringify({ ...(Predicate.isRecord(args) ? args : {}), [argument]: cursor })
  return next.length <= mostCharacters
    ? `Next page: ${tool.name} ${next}`
    : `Next page: ${tool.name} with the same arguments and ${argument}: ${JSON.stringify(cursor)}`
}
