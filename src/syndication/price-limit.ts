import { stopWords } from "#src/directory/stop-words.ts"

const before = "under|below|less than|lower than|cheaper than|up to|at most|(?:no|not) more than|max(?:imum)?|<=?"
const after = "or (?:less|under|below|cheaper)"
const number = "(?:\\d{1,3}(?:,\\d{3})+|\\d+)(?:\\.\\d{1,2})?(?![.,]?\\d)"
const amount = `(?<sign>\\$|usd)? ?(?<number>${number}) ?(?<unit>(?:\\$|dollars?|usd|bucks)(?![\\p{L}\\p{N}]))?`
const start = "(?<![\\p{L}\\p{N}$.,])(?:(?:costs?|costing|priced|for) )?"
const patterns = [
  new RegExp(`${start}(?:${before}) ?${amount}`, "iu"),
  new RegExp(`${start}${amount} ${after}(?![\\p{L}\\p{N}])`, "iu")
]

/** The largest number of the column. */
const mostCents = 2_147_483_647

const wordOf = (text: string) => text.replaceAll(/[^\p{L}\p{N}]/gu, "").toLowerCase()

export interface PriceLimit {
  /** The words without those that say the limit. */
  readonly words: string
  readonly mostCents: number
}

/**
 * The price that something may cost, as people say it: `pizza under 15 dollars`, `pizza up to $15`. Without a currency it
 * ends the words or a stop word follows: `under 5 miles` is no price. Undefined where nothing else is searched for.
 */
export const priceLimitOf = (query: string): PriceLimit | undefined => {
  const text = query.trim().replaceAll(/\s+/g, " ")
  for (const pattern of patterns) {
    const match = pattern.exec(text)
    if (match === null) continue
    const { number = "", sign, unit } = match.groups ?? {}
    const rest = text.slice(match.index + match[0].length)
    const next = wordOf(/^\s*\S+/.exec(rest)?.[0] ?? "")
    if (sign === undefined && unit === undefined && next !== "" && !stopWords.has(next)) continue
    const words = `${text.slice(0, match.index)} ${rest}`.trim().replaceAll(/\s+/g, " ")
    if (words.split(" ").every((word) => wordOf(word) === "" || stopWords.has(wordOf(word)))) continue
    const cents = Math.round(Number(number.replaceAll(",", "")) * 100)
    return { words, mostCents: Math.min(cents, mostCents) }
  }
  return undefined
}
