import { stateForms, zipOf, zipPlace } from "#src/shared/us-places.ts"
import { Effect } from "effect"

/** A city in a state, all in lower case. `isWhole`: the city's whole name, not a part of it. */
export interface CityInState {
  readonly city: string
  readonly isWhole: boolean
  /** How the state may be written. */
  readonly states: ReadonlyArray<string>
}

/** What the filter `location` matches: any of these. */
export interface Location {
  /** A part of a city or state. */
  readonly text: string
  /** A state in its other forms: `co` for `Colorado`. */
  readonly states: ReadonlyArray<string>
  readonly place: CityInState | undefined
  /** Five digits, which a business may have as its own. */
  readonly zip: string | undefined
}

/** `Austin, TX, USA` and `Washington, D.C.` without country and dots. */
const plain = (text: string) => text.replaceAll(".", "").replace(/,?\s+(usa?|united states( of america)?)\s*$/i, "")

/** `Denver, CO`, `Denver CO 80202`, `denver colorado`: a city, then its state in at most three words. */
const cityInState = (text: string): CityInState | undefined => {
  const words = text.toLowerCase().replace(/\d{5}(-\d{4})?\s*$/, "").split(/[\s,]+/).filter((word) => word !== "")
  for (const length of [3, 2, 1]) {
    const states = words.length > length ? stateForms(words.slice(-length).join(" ")) : []
    if (states.length > 0) return { city: words.slice(0, -length).join(" "), isWhole: false, states }
  }
  return undefined
}

/** Reads the filter `location`: a zip code is its city, too. */
export const locationOf = Effect.fnUntraced(function*(text: string) {
  const zip = zipOf(text)
  const states = stateForms(plain(text))
  if (states.length > 0) return { text, states, place: undefined, zip } satisfies Location
  if (zip === undefined) return { text, states, place: cityInState(plain(text)), zip } satisfies Location
  const centre = yield* zipPlace(zip)
  const place = centre === undefined
    ? undefined
    : { city: centre.city.toLowerCase(), isWhole: true, states: stateForms(centre.state) }
  return { text, states, place, zip } satisfies Location
})
