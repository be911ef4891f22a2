import { Array as Arr, Effect, Option, Order } from "effect"
import { type Filters } from "./DirectoryQuery.ts"
import { type DirectoryRepo, type FoundRow, type PageOptions } from "./DirectoryRepo.ts"
import { type Need, noPlaces } from "./search-sql.ts"
import { spellingOf } from "./spelling.ts"

export interface Found {
  readonly found: ReadonlyArray<FoundRow>
  readonly total: number
}

type Places = Extract<Need, { readonly _tag: "places" }>

type Labels = Extract<Need, { readonly _tag: "labels" }>

/** A location, how many are in its states, and how many fit it by their city alone; undefined: not counted. */
type Placed = Places & { readonly inStates: number; readonly elsewhere: number | undefined }

const nothing: Found = { found: [], total: 0 }

/** The search's words with what stands for each; by likeness of the whole where a word is like none. */
const spelled = Effect.fnUntraced(function*(repo: DirectoryRepo, search: string) {
  const byWord = Arr.groupBy(yield* repo.candidates(search), ({ asked }) => asked)
  const spellings = Object.entries(byWord).map(([asked, rows]) =>
    spellingOf(asked, rows.flatMap(({ n, word }) => word === null ? [] : [{ word, n }]))
  )
  const known = spellings.length > 0 && spellings.every(({ levels }) => levels[2].length > 0)
  return (known ? { _tag: "words", spellings } : { _tag: "likeness", search }) satisfies Need
})

/** Which condition finds the fewest, and about how many. */
const fewest = Effect.fnUntraced(function*(repo: DirectoryRepo, drivers: Arr.NonEmptyReadonlyArray<Need>) {
  const estimates = yield* Effect.forEach(
    drivers,
    (by) => Effect.map(repo.estimate(by), (rows) => ({ by, rows })),
    { concurrency: "unbounded" }
  )
  return Arr.min(estimates, Order.mapInput(Order.number, ({ rows }: { readonly rows: number }) => rows))
})

/** The labels of a category and a kind; none when no listing has one of them. */
const labelled = Effect.fnUntraced(function*(repo: DirectoryRepo, { category, kind }: Filters) {
  const names = [...(category === undefined ? [] : [`c:${category}`]), ...(kind === undefined ? [] : [`k:${kind}`])]
  const ids = yield* repo.labelIds(names)
  return Option.map(ids, (ids): Labels | undefined => ids.length === 0 ? undefined : { _tag: "labels", ids })
})

const countedOf = ({ category, kind, tier }: Filters) => ({ category, kind, tier })

const tierOf = ({ tier }: Filters): ReadonlyArray<Need> => tier === undefined ? [] : [{ _tag: "tier", tier }]

/** What it costs to look at an entry through an index alone, when fetching it costs 1. */
const byIndex = 0.2

/** A walk that costs less is taken without asking what else there is. */
const shortWalk = 2_000

/** What is counted beforehand: by category, kind and tier, everywhere or in whole states; by one of them, at a place. */
const searchCommon = Effect.fnUntraced(
  function*(
    repo: DirectoryRepo,
    filters: Filters,
    labels: Labels | undefined,
    placed: Placed | undefined,
    page: PageOptions
  ) {
    const { tier } = filters
    const common = [...(labels === undefined ? [] : [labels]), ...tierOf(filters)]
    if (placed === undefined && labels === undefined) return yield* repo.walked(common, page, countedOf(filters))

    const inStates = placed?.inStates ?? (yield* repo.counted(countedOf(filters)))
    const rest = placed === undefined || placed.ids === noPlaces ? undefined : { ...placed, states: [] }
    const elsewhere = rest === undefined ? 0 : placed?.elsewhere
    const total = elsewhere === undefined ? undefined : inStates + elsewhere
    if (total === 0) return nothing

    const needs = placed === undefined ? common : [placed, ...common]
    // To fill a page from the best on. A tier's entries are at the top; about half as many others are between them.
    const among = yield* repo.among(tier)
    const walk = byIndex * page.count * among * (tier === undefined ? 1 : 1.5) / Math.max(1, total ?? inStates)
    const drivers = [...(placed === undefined ? [] : [placed]), ...(labels === undefined ? [] : [labels])]
    if (walk > shortWalk && Arr.isNonEmptyReadonlyArray(drivers)) {
      const { by, rows } = yield* fewest(repo, drivers)
      if (rows * (by === placed && placed.states.length === 0 ? byIndex : 1) < walk) {
        return yield* repo.gathered(by, needs, page)
      }
    }
    return yield* repo.walked(
      needs,
      page,
      total ?? (rest === undefined ? 0 : inStates + (yield* repo.countOf(rest, [rest, ...common])))
    )
  }
)

/**
 * Finds a page and the exact total. The condition that finds the fewest goes first, the others look at what it found:
 * PostgreSQL would combine the indexes, at many times the cost. What is common is counted beforehand (migration 0005).
 */
export const search = Effect.fnUntraced(
  function*(repo: DirectoryRepo, filters: Filters, page: PageOptions) {
    const { circle, city, location, tier = 0 } = filters
    const found = yield* labelled(repo, filters)
    if (Option.isNone(found)) return nothing
    const labels = found.value
    const isCommon = filters.search === undefined && circle === undefined && city === undefined
    const [label, other] = labels?.ids ?? [0]
    const elsewhere = label !== undefined && other === undefined ? { label, tier } : undefined
    const counting = isCommon ? { inStates: countedOf(filters), elsewhere } : undefined
    const [located, words] = yield* Effect.all([
      location === undefined || city !== undefined ? Effect.succeed(undefined) : repo.located(location, counting),
      filters.search === undefined ? Effect.succeed(undefined) : spelled(repo, filters.search)
    ], { concurrency: location === undefined ? 1 : 2 })
    if (located?.ids === noPlaces && located.states.length === 0) return nothing

    const placed = located === undefined
      ? undefined
      : { _tag: "places", ...located, elsewhere: elsewhere === undefined ? undefined : located.elsewhere } as const
    if (isCommon) return yield* searchCommon(repo, filters, labels, placed, page)
    const drivers: ReadonlyArray<Need> = [
      ...(city === undefined ? [] : [{ _tag: "city", city, location } as const]),
      ...(placed === undefined ? [] : [placed]),
      ...(circle === undefined ? [] : [{ _tag: "circle", circle } as const]),
      ...(words === undefined ? [] : [words])
    ]
    const needs = [...drivers, ...(labels === undefined ? [] : [labels]), ...tierOf(filters)]
    const [first] = drivers
    // Likeness can't be asked of a row that something else found; a city has few enough.
    const sure = words?._tag === "likeness" ? words : city !== undefined || drivers.length === 1 ? first : undefined
    if (sure !== undefined) return yield* repo.gathered(sure, needs, page)
    return Arr.isNonEmptyReadonlyArray(drivers)
      ? yield* repo.gathered((yield* fewest(repo, drivers)).by, needs, page)
      : nothing
  }
)
