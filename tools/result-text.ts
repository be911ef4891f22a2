import { Predicate } from "effect"

/** A result's text has about so many characters, and a field of a row, or beside rows. */
const mostCharacters = 8_000
const mostOfCell = 160
const mostOfField = 1_200
const mostItems = 12

/** What has no spaces is an id, a key or an address: a part of it is of no use. */
const cut = (text: string, most: number) => {
  const line = text.replace(/\s*\n\s*/g, " ").trim()
  return line.length <= most || !/\s/.test(line) ? line : `${line.slice(0, most - 1).trimEnd().toWellFormed()}…`
}

const isNothing = (value: unknown) =>
  value === null || value === undefined || value === "" ||
  (Array.isArray(value) || Predicate.isRecord(value)) && Object.keys(value).length === 0

/** The fields that tell something: what was never changed needs no time of its change. */
const toldIn = (value: Record<string, unknown>) =>
  Object.entries(value).filter(([name, inner]) =>
    !isNothing(inner) && !(name === "updatedAt" && inner === value["createdAt"])
  )

/** Of rows within a row a reader needs no more than what they are called. */
const called = (item: unknown) => Predicate.isRecord(item) && typeof item["name"] === "string" ? item["name"] : item

/** A value on one line; what is empty is left out. */
const inline = (value: unknown, most: number): string => {
  if (Array.isArray(value)) {
    const shown = value.slice(0, mostItems).map((item) => inline(called(item), most)).join(", ")
    return value.length > mostItems ? `${shown}, … ${value.length - mostItems} more` : shown
  }
  if (!Predicate.isRecord(value)) return cut(String(value), most)
  const fields = toldIn(value).map(([name, inner]) => `${name}: ${inline(inner, most)}`)
  return `{${fields.join("; ")}}`
}

const isRows = (value: unknown): value is ReadonlyArray<Record<string, unknown>> =>
  Array.isArray(value) && value.length > 0 && value.every(Predicate.isRecord)

const row = (value: Record<string, unknown>) => `- ${inline(value, mostOfCell).slice(1, -1)}`

const linesOf = (name: string, value: unknown): ReadonlyArray<string> => {
  if (isRows(value)) return [`${name}:`, ...value.map(row)]
  return isNothing(value) ? [] : [`${name}: ${inline(value, mostOfField)}`]
}

const listed = (data: ReadonlyArray<unknown>) =>
  data.length === 0
    ? ["Nothing found"]
    : data.map((item) => Predicate.isRecord(item) ? row(item) : `- ${inline(item, mostOfCell)}`)

/** Of a page, whose call for more `nextPage` tells. A new key has other things there. */
const metaLines = (meta: unknown) =>
  Predicate.isRecord(meta) && typeof meta["total"] === "number" ? [`${meta["total"]} in all`] : linesOf("meta", meta)

/**
 * A result for readers of its text: one line a field or row, without what is empty, and not endless. Programs read
 * `structuredContent`, which has everything.
 */
export const resultText = (value: unknown): string => {
  if (!Predicate.isRecord(value)) return inline(value, mostOfField)
  const { data, meta, ...fields } = value
  const lines = [
    ...(Array.isArray(data) ? listed(data) : linesOf("data", data)),
    ...toldIn(fields).flatMap(([name, inner]) => linesOf(name, inner))
  ]
  let length = 0
  const shown = lines.filter((line) => (length += line.length + 1) <= mostCharacters)
  return [
    ...shown,
    ...(shown.length < lines.length ? [`… ${lines.length - shown.length} more lines in structuredContent`] : []),
    ...metaLines(meta)
  ].join("\n")
}
