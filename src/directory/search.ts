import { Array as Arr, Effect, Option } from "effect"
import { choose, mostSelective } from "./access-path.ts"
import { type Filters } from "./DirectoryQuery.ts"
import { type DirectoryRepo, type PageOptions } from "./DirectoryRepo.ts"
import { type Predicate } from "./predicates.ts"
import { noPlaces } from "./search-sql.ts"
import { type SearchResult, searchWords, wordsPredicate } from "./search-words.ts"

type PlacesPredicate = Extract<Predicate, { readonly _tag: "places" }>

type LabelsPredicate = Extract<Predicate, { readonly _tag: "labels" }>

/**
 * The places of a location, with two counts: of the listings in the states that match as a whole, and of those whose city
 * alone matches (undefined: not counted).
 */
type CountedPlaces = PlacesPredicate & { readonly inStates: number; readonly elsewhere: number | undefined }

const empty: SearchResult = { rows: [], total: 0 }

/** The labels of a category and a kind; none when no listing has one of them. */
export const labelsPredicate = Effect.fnUntraced(function*(repo: DirectoryRepo, { category, kind }: Filters) {
  const names = [...(category === undefined ? [] : [`c:${category}`]), ...(kind === undefined ? [] : [`k:${kind}`])]
  const ids = yield* repo.labelIds(names)
  return Option.map(ids, (ids): LabelsPredicate | undefined => ids.length === 0 ? undefined : { _tag: "labels", ids })
})

/** The predicates of a query that can be access paths, but for its labels and words. */
export const accessPathsOf = (
  { circle, city, location, sort }: Filters,
  places: PlacesPredicate | undefined
): ReadonlyArray<Predicate> => [
  ...(city === undefined
    ? []
    : [{ _tag: "city", city, location: places === undefined ? location : undefined } as const]),
  ...(places === undefined ? [] : [places]),
  ...(circle === undefined ? [] : [{ _tag: "circle", circle, ranks: sort === "distance" } as const])
]

const countKeyOf = ({ category, kind, tier }: Filters) => ({ category, kind, tier })

export const tierPredicate = ({ tier }: Filters): ReadonlyArray<Predicate> =>
  tier === undefined ? [] : [{ _tag: "tier", tier }]

/** Cost of reading an entry from an index alone, relative to fetching its row. */
const indexOnlyCost = 0.2

/** A rank scan below this cost is taken without asking for the cardinality of anything else. */
const cheapScan = 2_000

/** For filters whose total is counted in advance: category, kind and tier, anywhere or in states; one label at a place. */
const searchCounted = Effect.fnUntraced(
  function*(
    repo: DirectoryRepo,
    filters: Filters,
    labels: LabelsPredicate | undefined,
    places: CountedPlaces | undefined,
    page: PageOptions
  ) {
    const { tier } = filters
    const common = [...(labels === undefined ? [] : [labels]), ...tierPredicate(filters)]
    if (places === undefined && labels === undefined) return yield* repo.rankScan(common, page, countKeyOf(filters))

    const inStates = places?.inStates ?? (yield* repo.counted(countKeyOf(filters)))
    const cities = places === undefined || places.ids === noPlaces ? undefined : { ...places, states: [] }
    const elsewhere = cities === undefined ? 0 : places?.elsewhere
    const total = elsewhere === undefined ? undefined : inStates + elsewhere
    if (total === 0) return empty

    const predicates = places === undefined ? common : [places, ...common]
    // A rank scan reads from the top until the page is full. A tier's entries are at the top, with about half as many
    // others between them.
    const listings = yield* repo.approximateCount(tier)
    const scanCost = indexOnlyCost * page.count * listings * (tier === undefined ? 1 : 1.5) /
      Math.max(1, total ?? inStates)
    const accessPaths = [...(places === undefined ? [] : [places]), ...(labels === undefined ? [] : [labels])]
    if (scanCost > cheapScan && Arr.isNonEmptyReadonlyArray(accessPaths)) {
      const { accessPath, rows } = yield* mostSelective(repo, accessPaths)
      const rowCost = accessPath === places && places.states.length === 0 ? indexOnlyCost : 1
      if (rows * rowCost < scanCost) return yield* repo.indexScan(accessPath, predicates, page)
    }
    return yield* repo.rankScan(
      predicates,
      page,
      total ?? (cities === undefined ? 0 : inStates + (yield* repo.countOf(cities, [cities, ...common])))
    )
  }
)

/**
 * Finds a page and the exact total. One predicate, the most selective, is the access path through its index; the others
 * only filter its rows: PostgreSQL would combine the indexes, at many times the cost. Totals of common filters are counted
 * in advance (migration 0005). See docs/decisions/directory-index.md.
 */
export const search = Effect.fnUntraced(
  function*(repo: DirectoryRepo, filters: Filters, page: PageOptions) {
    const { circle, city, location, tier = 0 } = filters
    const labelsOrNone = yield* labelsPredicate(repo, filters)
    if (Option.isNone(labelsOrNone)) return empty
    const labels = labelsOrNone.value
    const zip = location?.zip
    const isCounted = filters.search === undefined && circle === undefined && city === undefined && zip === undefined
    const [label, otherLabel] = labels?.ids ?? [0]
    const elsewhere = label !== undefined && otherLabel === undefined ? { label, tier } : undefined
    const counting = isCounted ? { inStates: countKeyOf(filters), elsewhere } : undefined
    const [located, words] = yield* Effect.all([
      location === undefined || (city !== undefined && zip === undefined)
        ? Effect.succeed(undefined)
        : repo.located(location, counting),
      filters.search === undefined ? Effect.succeed(undefined) : wordsPredicate(repo, filters.search)
    ], { concurrency: location === undefined ? 1 : 2 })
    if (located?.ids === noPlaces && located.states.length === 0 && zip === undefined) return empty

    const places = located === undefined
      ? undefined
      : { _tag: "places", ...located, zip, elsewhere: elsewhere === undefined ? undefined : located.elsewhere } as const
    if (isCounted) return yield* searchCounted(repo, filters, labels, places, page)
    const accessPaths = accessPathsOf(filters, places)
    const others = [...accessPaths, ...(labels === undefined ? [] : [labels]), ...tierPredicate(filters)]
    if (words?._tag === "words") return yield* searchWords(repo, words, accessPaths, others, page)
    const by = words ?? (Arr.isNonEmptyReadonlyArray(accessPaths) ? yield* choose(repo, accessPaths) : undefined)
    return by === undefined ? empty : yield* repo.indexScan(by, words === undefined ? others : [words, ...others], page)
  }
)
