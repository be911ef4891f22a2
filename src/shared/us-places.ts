import { Effect } from "effect"
import states from "zipcodes/lib/states.js"

/** Where a zip code is. */
export interface ZipPlace {
  readonly city: string
  /** Two capital letters. */
  readonly state: string
  readonly latitude: number
  readonly longitude: number
}

// 5 MB, needed by few requests.
const places = Effect.runSync(Effect.cached(Effect.promise(() => import("zipcodes"))))

const zipPattern = /^\s*(\d{5})(-\d{4})?\s*$/

/** The five digits of a text that is written like a zip code of the United States. */
export const zipOf = (text: string) => zipPattern.exec(text)?.[1]

/** The place of a zip code (`80202`, `80202-1234`); undefined when there is none. */
export const zipPlace = (text: string): Effect.Effect<ZipPlace | undefined> => {
  const zip = zipOf(text)
  return zip === undefined ? Effect.succeed(undefined) : Effect.map(places, ({ default: { lookup } }) => lookup(zip))
}

const shortOf = new Map(Object.entries(states.full).map(([name, short]) => [name.toLowerCase(), short.toLowerCase()]))
const nameOf = new Map([...shortOf].map(([name, short]) => [short, name]))

/** How a state of the United States may be written, in lower case: `Colorado` → `co`, `colorado`. Empty for other texts. */
export const stateForms = (text: string): ReadonlyArray<string> => {
  const state = text.trim().toLowerCase().replace(/\s+/g, " ")
  const short = nameOf.has(state) ? state : shortOf.get(state)
  const name = short === undefined ? undefined : nameOf.get(short)
  return short === undefined || name === undefined ? [] : [short, name]
}
