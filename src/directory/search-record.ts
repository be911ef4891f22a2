import { type Search } from "#src/analytics/UnmetSearch.ts"
import { stateForms } from "#src/shared/us-places.ts"
import { type Filters } from "./DirectoryQuery.ts"
import { cellOf } from "./sphere.ts"

/** City and state of the filters; a location that names no state known is taken for a city. */
const placeOf = ({ city, location }: Filters) => {
  const [state = ""] = location?.place?.states ?? location?.states ?? []
  if (location?.place !== undefined) return { city: city ?? location.place.city, state }
  return { city: city ?? (state === "" ? location?.text ?? "" : ""), state }
}

/** The stored form of a state: its abbreviation, if it is a known state. */
export const stateKey = (text: string): string => stateForms(text)[0] ?? text.trim().toLowerCase()

/** What there is to keep of a search. Of a circle, which may be around somebody's home, the square of its centre. */
export const searchOf = (filters: Filters): Search => ({
  words: filters.search ?? "",
  category: filters.category ?? "",
  kind: filters.kind ?? "",
  verification: filters.tier ?? 0,
  ...placeOf(filters),
  square: filters.circle === undefined ? -1 : cellOf(filters.circle)
})
