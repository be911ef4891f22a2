import { Array as Arr, Effect, Option, Order } from "effect"
import { type Filters } from "./DirectoryQuery.ts"
import { type DirectoryRepo, type FoundRow, type PageOptions } from "./DirectoryRepo.ts"
import { noPlaces, type Predicate } from "./search-sql.ts"
import { spellingOf } from "./spelling.ts"
import { stopWords } from "./stop-words.ts"
import { costOf, isCheaperFromPostings, maxSpellings, maxStopWords, type WordsPredicate } from "./words-sql.ts"

/** One page of the rows that match, and how many match in all. */
export interface SearchResult {
  readonly rows: ReadonlyArray<FoundRow>
  readonly total: number
}

type PlacesPredicate = Extract<Predicate, { readonly _tag: "places" }>

type LabelsPredicate = Extract<Predicate, { readonly _tag: "labels" }>

/**
 * The places of a location, with two counts: of the listings in the states that match as a whole, and of those whose city
 * alone matches (undefined: not counted).
 */
type CountedPlaces = PlacesPredicate & { readonly inStates: number; readonly elsewhere: number | undefined }

const empty: SearchResult = { rows: [], total: 0 }

/**
 * The words of the search that a listing has, with their spellings; stop words only where there is nothing else. When no
 * listing has any of them, the whole name by trigrams.
 */
export const wordsPredicate = Effect.fnUntraced(function*(repo: DirectoryRepo, search: string) {
  const candidates = yield* repo.candidates(search)
  const content = candidates.filter(({ asked }) => !stopWords.has(asked))
  const spellings = (content.length === 0 ? candidates : content)
    .map(spellingOf)
    .filter(({ n }) => n > 0)
    .sort((a, b) => a.n - b.n || (a.asked < b.asked ? -1 : 1))
    .slice(0, maxSpellings)
  const others = candidates.filter((candidate) => content.length > 0 && !content.includes(candidate))
    .flatMap(({ asked, counts, ids, words }) => {
      const i = words.indexOf(asked)
      return i < 0 ? [] : [{ id: ids[i]!, n: counts[i]! }]
    })
  return Arr.isNonEmptyReadonlyArray(spellings)
    ? { _tag: "words", spellings, stopWords: others.slice(0, maxStopWords), rarest: undefined } satisfies Predicate
    : { _tag: "likeness", search } satisfies Predicate
})

/** The access path with the lowest cardinality, and that cardinality. */
const mostSelective = Effect.fnUntraced(
  function*(repo: DirectoryRepo, accessPaths: Arr.NonEmptyReadonlyArray<Predicate>) {
    const cardinalities = yield* Effect.forEach(
      accessPaths,
      (accessPath) => Effect.map(repo.cardinality(accessPath), (rows) => ({ accessPath, rows })),
      { concurrency: "unbounded" }
    )
    return Arr.min(cardinalities, Order.mapInput(Order.number, ({ rows }: { readonly rows: number }) => rows))
  }
)

/** The labels of a category and a kind; none when no listing has one of them. */
export const labelsPredicate = Effect.fnUntraced(function*(repo: DirectoryRepo, { category, kind }: Filters) {
  const names = [...(category === undefined ? [] : [`c:${category}`]), ...(kind === undefined ? [] : [`k:${kind}`])]
  const ids = yield* repo.labelIds(names)
  return Option.map(ids, (ids): LabelsPredicate | undefined => ids.length === 0 ? undefined : { _tag: "labels", ids })
})

/** The access path to take. Likeness can't filter the rows of another one; a city has few enough rows not to ask. */
export const choose = Effect.fnUntraced(
  function*(repo: DirectoryRepo, accessPaths: Arr.NonEmptyReadonlyArray<Predicate>) {
    const [first, second] = accessPaths
    const only = accessPaths.find(({ _tag }) => _tag === "likeness") ??
      accessPaths.find(({ _tag }) => _tag === "city") ?? (second === undefined ? first : undefined)
    return only ?? (yield* mostSelective(repo, accessPaths)).accessPath
  }
)

/** The predicates of a query that can be access paths, but for its labels. */
export const accessPathsOf = (
  { circle, city, location, sort }: Filters,
  places: PlacesPredicate | undefined,
  words: Predicate | undefined
): ReadonlyArray<Predicate> => [
  ...(city === undefined ? [] : [{ _tag: "city", city, location } as const]),
  ...(places === undefined ? [] : [places]),
  ...(circle === undefined ? [] : [{ _tag: "circle", circle, ranks: sort === "distance" } as const]),
  ...(words === undefined ? [] : [words])
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
 * For a search whose words no listing has together: the listings that have the most of them. One that lacks the `rarest`
 * words that were looked up can't have more than the others: so many more are looked up until that is too few.
 */
const searchSome = Effect.fnUntraced(
  function*(
    repo: DirectoryRepo,
    words: WordsPredicate,
    accessPaths: ReadonlyArray<Predicate>,
    predicates: ReadonlyArray<Predicate>,
    page: PageOptions
  ) {
    const count = words.spellings.length
    const withRarest = (rarest: number) => {
      const some = { ...words, rarest }
      return { some, all: predicates.map((predicate) => predicate === words ? some : predicate) }
    }
    const others = accessPaths.filter((predicate) => predicate !== words)
    if (Arr.isNonEmptyReadonlyArray(others)) {
      return yield* repo.indexScan(yield* choose(repo, others), withRarest(count).all, page)
    }
    for (let rarest = 2; rarest < count; rarest++) {
      const { all, some } = withRarest(rarest)
      const found = yield* repo.indexScan(some, all, page)
      if (found.hits > count - rarest) return found
    }
    const { all, some } = withRarest(count)
    return yield* repo.indexScan(some, all, page)
  }
)

/** Stop words of a search are not looked for when that costs more than to read so many postings. */
const maxPostings = 30_000

/** For a search without other filters. */
const searchWords = Effect.fnUntraced(function*(repo: DirectoryRepo, words: WordsPredicate, page: PageOptions) {
  if (words.spellings.length > 1) {
    if (!isCheaperFromPostings(words)) {
      const found = yield* repo.indexScan(words, [words], page)
      return found.total > 0 ? found : yield* searchSome(repo, words, [words], [words], page)
    }
    const all = { ...words, rarest: words.spellings.length }
    return yield* repo.indexScan(all, [all], page)
  }
  const one = costOf(words) > maxPostings ? { ...words, stopWords: [] } : words
  return one.stopWords.length === 0 && page.after === undefined
    ? yield* repo.postingsScan(one, page.count)
    : yield* repo.indexScan(one, [one], page)
})

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
    const isCounted = filters.search === undefined && circle === undefined && city === undefined
    const [label, otherLabel] = labels?.ids ?? [0]
    const elsewhere = label !== undefined && otherLabel === undefined ? { label, tier } : undefined
    const counting = isCounted ? { inStates: countKeyOf(filters), elsewhere } : undefined
    const [located, words] = yield* Effect.all([
      location === undefined || city !== undefined ? Effect.succeed(undefined) : repo.located(location, counting),
      filters.search === undefined ? Effect.succeed(undefined) : wordsPredicate(repo, filters.search)
    ], { concurrency: location === undefined ? 1 : 2 })
    if (located?.ids === noPlaces && located.states.length === 0) return empty

    const places = located === undefined
      ? undefined
      : { _tag: "places", ...located, elsewhere: elsewhere === undefined ? undefined : located.elsewhere } as const
    if (isCounted) return yield* searchCounted(repo, filters, labels, places, page)
    const accessPaths = accessPathsOf(filters, places, words)
    const predicates = [...accessPaths, ...(labels === undefined ? [] : [labels]), ...tierPredicate(filters)]
    if (!Arr.isNonEmptyReadonlyArray(accessPaths)) return empty
    if (words?._tag === "words" && predicates.length === 1) return yield* searchWords(repo, words, page)
    const found = yield* repo.indexScan(yield* choose(repo, accessPaths), predicates, page)
    return found.total > 0 || words?._tag !== "words" || words.spellings.length === 1
      ? found
      : yield* searchSome(repo, words, accessPaths, predicates, page)
  }
)
