import { Array as Arr, Effect, Option } from "effect"
import { choose } from "./access-path.ts"
import { type Filters } from "./DirectoryQuery.ts"
import { type DirectoryRepo } from "./DirectoryRepo.ts"
import { type Facets } from "./Facets.ts"
import { type FacetsRepo } from "./FacetsRepo.ts"
import { noPlaces } from "./search-sql.ts"
import { wordsPredicate } from "./search-words.ts"
import { accessPathsOf, labelsPredicate, tierPredicate } from "./search.ts"

const none: Facets = { total: 0, categories: [], kinds: [], cities: [] }

/** Counts the categories, kinds and cities of the listings that a search with the same filters finds. */
export const countFacets = Effect.fnUntraced(function*(repo: DirectoryRepo, facets: FacetsRepo, filters: Filters) {
  const { city, location, search, tier } = filters
  const found = yield* labelsPredicate(repo, filters)
  if (Option.isNone(found)) return none
  const labels = found.value === undefined ? [] : [found.value]
  const zip = location?.zip
  const located = location === undefined || (city !== undefined && zip === undefined)
    ? undefined
    : yield* repo.located(location, undefined)
  if (located?.ids === noPlaces && located.states.length === 0 && zip === undefined) return none
  const places = located === undefined ? undefined : { _tag: "places", ...located, zip } as const
  const words = search === undefined ? undefined : yield* wordsPredicate(repo, search)
  const accessPaths = accessPathsOf(filters, places)
  const others = [...accessPaths, ...labels, ...tierPredicate(filters)]
  const [label] = labels
  if (words !== undefined) {
    const by = words._tag === "words" ? yield* choose(repo, [words, ...accessPaths]) : words
    const found = yield* facets.ofMatching(by, [words, ...others])
    if (found.total > 0 || words._tag !== "words") return found
    const some = { ...words, least: 1, rarest: words.spellings.length } as const
    return yield* facets.ofMatching(yield* choose(repo, [some, ...accessPaths]), [some, ...others])
  }
  if (Arr.isNonEmptyReadonlyArray(accessPaths)) {
    return yield* facets.ofMatching(yield* choose(repo, accessPaths), others)
  }
  return label === undefined
    ? yield* facets.ofTier({ category: undefined, kind: undefined, tier })
    : yield* facets.ofMatching(label, others)
})
