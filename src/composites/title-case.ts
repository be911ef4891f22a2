/** Lower case within a name: Isle of Palms, Fond du Lac, Rancho de Taos. */
const smallWords = new Set("of the and or in on at by for du de des".split(" "))

/** Written in capitals, whatever a business wrote. */
const acronyms = new Set(
  "atm bbq cbd cpa dc dj diy ev gps hvac it nyc rv seo suv tv usa vr".split(" ")
)

const capital = (part: string) => {
  const first = part.codePointAt(0)
  if (first === undefined) return ""
  const letter = String.fromCodePoint(first)
  // Some letters are two as capitals, of which the first is one: ß begins Ss.
  const [upper = "", ...more] = letter.toUpperCase()
  return upper + more.join("").toLowerCase() + part.slice(letter.length)
}

/** McAllen, O'Fallon, D'Iberville; but Joe's. */
const inner = (part: string) =>
  part.replace(/^Mc(\p{Ll})/u, (_, letter: string) => `Mc${letter.toUpperCase()}`)
    .replace(/^(\p{L}['’])(\p{Ll})/u, (_, start: string, letter: string) => start + letter.toUpperCase())

/** Whether somebody chose its capitals: McAllen, DeLand; in a text that is not all capitals NW, too. */
const isMixed = (word: string, isShouted: boolean) => {
  const rest = word.replace(/^\P{L}*\p{L}/u, "")
  if (/\p{Ll}/u.test(rest)) return /\p{Lu}/u.test(rest)
  return !isShouted && /^\p{Lu}{2,3}\.?$/u.test(word)
}

const cased = (word: string, isFirst: boolean, isShouted: boolean) => {
  const lower = word.toLowerCase()
  if (acronyms.has(lower)) return word.toUpperCase()
  if (isMixed(word, isShouted)) return capital(word)
  if (!isFirst && smallWords.has(lower)) return lower
  return lower.split("-").map((part, at) => at > 0 && smallWords.has(part) ? part : inner(capital(part))).join("-")
}

/**
 * Writes a city or a vertical in title case: `nail_salons` as Nail Salons, `SAN JOSÉ` as San José. Words that have
 * capitals within keep them. Underscores are spaces.
 */
export const titleCase = (text: string) => {
  const isShouted = !/\p{Ll}/u.test(text)
  return text.replaceAll("_", " ").trim().split(/\s+/).map((word, at) => cased(word, at === 0, isShouted)).join(" ")
}

interface Place {
  readonly city: string
  readonly state: string
  readonly vertical: string
}

/** Contract: System composites: `<City> <Vertical>` in title case; and what such a composite is, with the state. */
export const namesOf = (place: Place) => {
  const city = titleCase(place.city)
  const vertical = titleCase(place.vertical)
  const where = [city, place.state.trim()].filter((text) => text !== "").join(", ")
  return { name: `${city} ${vertical}`, description: `${vertical} in ${where}` }
}
