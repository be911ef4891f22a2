import { ended } from "./ended.ts"
import { lineOf } from "./markdown-text.ts"
import { mostDescription } from "./skill-file.ts"

export interface Summarized {
  readonly name: string
  readonly description: string
  readonly categories: ReadonlyArray<string>
  readonly city: string
  readonly state: string
}

const use = "Use when the user asks about this business, what it offers, its prices or its hours."

/** At most so many UTF-16 units, whole characters. */
const within = (text: string, units: number): string => {
  if (text.length <= units) return text
  const letters = [...text]
  let left = units - 1
  const end = letters.findIndex((letter) => (left -= letter.length) < 0)
  return `${letters.slice(0, end).join("")}…`
}

/** In quotation marks that the text itself can't close. */
const quoted = (text: string) => {
  const words = text.replace(/["“”„‟〝〞＂]/gu, "'")
  return `In its own words: "${words}"${ended(words) === words ? "" : "."}`
}

/** So much of the business's text is worth its quotation marks. */
const leastQuote = 40

/** A business in one paragraph, for a frontmatter: what it is, where, what it says of itself, when to use the skill. */
export const skillSummary = ({ categories, city, description, name, state }: Summarized): string => {
  const where = [city, state].map((text) => lineOf(text, 60)).filter((text) => text !== "").join(", ")
  const kinds = categories.slice(0, 5).map((text) => lineOf(text, 40)).filter((text) => text !== "").join(", ")
  const what = [lineOf(name, 120), ...(kinds === "" ? [] : [`(${kinds})`]), ...(where === "" ? [] : [`in ${where}`])]
  const about = within(ended(what.join(" ")), mostDescription - use.length - 1)
  const room = mostDescription - about.length - quoted("").length - use.length - 2
  const said = lineOf(description, 400)
  return [about, ...(said === "" || room < leastQuote ? [] : [quoted(within(said, room))]), use].join(" ")
}
