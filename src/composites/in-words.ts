import { lineOf } from "#src/shared/outside-text.ts"
import { Predicate } from "effect"

type Fields = Readonly<Record<string, unknown>>

/** So many entries of a list are named, and fields of one. */
const mostEntries = 10
/** Lists and objects within each other. */
const deepest = 6
/** Letters of a text within an entry of a list. */
const longestDetail = 60
/** Letters of a text that is tried as JSON. */
const longestJson = 100_000

const isEmpty = (value: unknown) =>
  value === null || value === undefined || value === "" ||
  Array.isArray(value) && value.length === 0 ||
  Predicate.isRecord(value) && Object.keys(value).length === 0

/** `priceCents`, `price_cents`: price cents; `isOpen`: open; `categoryName`: category. */
const wordsOf = (key: string) =>
  key.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " ").trim().toLowerCase()
    .replace(/^is (?=.)/, "").replace(/(?<=.) name$/, "")

/** What a program needs and a reader does not: it stays in the structured content. */
const isForPrograms = (key: string) => /^(?:id|matchedWords|.*(?:Id|_id|Cursor|_cursor))$/.test(key)

/** `price` says it already: its cents, and how it is meant. */
const repeats = (key: string, fields: Fields) => {
  const [, stem = ""] = /^(.+?)_?(?:cents|type)$/i.exec(key) ?? []
  return typeof fields[stem] === "string" && fields[stem] !== ""
}

/** The number of a list that is told with it. */
const counts = (key: string, value: unknown, lengths: ReadonlySet<unknown>) =>
  /count$|^total$/i.test(key) && lengths.has(value)

/** Texts of servers without structured content often are JSON. */
const parsed = (text: string): unknown => {
  if (text.length > longestJson || !/^\s*[[{]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const joined = (parts: ReadonlyArray<string>, separator: string, total: number) =>
  [...parts, ...total > parts.length ? [`and ${total - parts.length} more`] : []].join(separator)

const fieldsOf = (fields: Fields) => {
  const entries = Object.entries(fields)
  // Once for all of them: to look for each one's list would stop everybody's calls where thousands are counts.
  const lengths = new Set(entries.flatMap(([, value]) => Array.isArray(value) ? [value.length] : []))
  return entries.filter(([key, value]) =>
    !isEmpty(value) && !isForPrograms(key) && !repeats(key, fields) && !counts(key, value, lengths)
  )
}

const told = (entries: ReadonlyArray<readonly [string, unknown]>, level: number) =>
  joined(
    entries.slice(0, mostEntries).map(([key, value]) =>
      key === "description" ? shown(value, level + 1) : `${wordsOf(key)}: ${shown(value, level + 1)}`
    ),
    ", ",
    entries.length
  )

const headingOf = ({ name, title }: Fields) => [name, title].find((one) => typeof one === "string" && one !== "")

/** `Pizza: $13.50 (Tomato, basil, category: Mains)`. */
const named = (heading: unknown, fields: Fields, level: number) => {
  const { price } = fields
  const isPriced = typeof price === "string" && price !== ""
  const rest = fieldsOf(fields).filter(([key, value]) =>
    value !== heading && !(isPriced && (key === "price" || /^is_?available$/i.test(key) && value === true))
  )
  const all = told(rest, level)
  return `${lineOf(String(heading), 200)}${isPriced ? `: ${lineOf(price, longestDetail)}` : ""}${
    all === "" ? "" : ` (${all})`
  }`
}

const ofObject = (fields: Fields, level: number): string => {
  const heading = headingOf(fields)
  if (heading !== undefined) return named(heading, fields, level)
  const entries = fieldsOf(fields)
  const [only] = entries
  if (level > 0) return `(${told(entries, level)})`
  if (only === undefined) {
    return Object.keys(fields).filter((key) => Array.isArray(fields[key])).map((key) => `no ${wordsOf(key)}`).join(", ")
  }
  return entries.length === 1 && typeof only[1] === "object" ? shown(only[1], level) : told(entries, level)
}

const shown = (value: unknown, level: number): string => {
  if (isEmpty(value)) return "nothing"
  if (typeof value === "boolean") return value ? "yes" : "no"
  if (typeof value === "string") {
    const inner = parsed(value)
    return typeof inner === "string"
      ? level === 0 ? inner : lineOf(inner, level < 2 ? 200 : longestDetail)
      : shown(inner, level)
  }
  if (typeof value !== "object") return String(value)
  if (level === deepest) return "…"
  if (!Array.isArray(value)) return ofObject(value as Fields, level)
  return joined(value.slice(0, mostEntries).map((one) => shown(one, level + 1)), "; ", value.length)
}

/** A JSON value as a person would read it out: fields by their names, without ids and what is empty; never JSON. */
export const inWords = (value: unknown): string => shown(value, 0) || "nothing"
