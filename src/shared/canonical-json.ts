import { Predicate } from "effect"

const sorted = (_key: string, value: unknown) =>
  Predicate.isRecord(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => one < other ? -1 : 1))
    : value

/** Normalises JSON: white space, the order of members, and the notation of numbers and strings. */
export const canonicalJson = (text: string) => {
  try {
    return JSON.stringify(JSON.parse(text), sorted)
  } catch {
    return text
  }
}
