import { Predicate } from "effect"

/** So many entries of a list are named. */
const mostEntries = 10
/** Lists and objects within each other. */
const deepest = 4

const isEmpty = (value: unknown) =>
  value === null || value === undefined || value === "" ||
  Array.isArray(value) && value.length === 0 ||
  Predicate.isRecord(value) && Object.keys(value).length === 0

/** `priceCents`, `price_cents`: price cents. */
const wordsOf = (key: string) => key.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " ").trim().toLowerCase()

/** What a program needs and a reader does not: it stays in the structured content. */
const isForPrograms = (key: string) => /^(?:id|.*(?:Id|_id|Cursor|_cursor))$/.test(key)

const shown = (value: unknown, level: number): string => {
  if (isEmpty(value)) return "nothing"
  if (typeof value === "boolean") return value ? "yes" : "no"
  if (typeof value !== "object") return String(value)
  if (level === deepest) return "…"
  if (Array.isArray(value)) {
    const named = value.slice(0, mostEntries).map((one) => shown(one, level + 1))
    const more = value.length - named.length
    return [...named, ...more > 0 ? [`and ${more} more`] : []].join("; ")
  }
  const { name, title, ...rest } = value as Readonly<Record<string, unknown>>
  const heading = [name, title].find((one) => typeof one === "string" && one !== "")
  const fields = Object.entries(heading === name ? { title, ...rest } : { name, ...rest })
    .filter(([key, one]) => !isEmpty(one) && !isForPrograms(key))
    .map(([key, one]) => `${wordsOf(key)}: ${shown(one, level + 1)}`)
  const all = fields.join(", ")
  return heading === undefined ? level === 0 ? all : `(${all})` : all === "" ? String(heading) : `${heading} (${all})`
}

/** A JSON value as a person would read it out: fields by their names, without ids and what is empty. */
export const inWords = (value: unknown): string => shown(value, 0) || "nothing"
