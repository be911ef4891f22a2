import { Array as Arr, Effect, Order } from "effect"
import { type Filters } from "./DirectoryQuery.ts"
import { type DirectoryRepo, type FoundRow, type PageOptions } from "./DirectoryRepo.ts"
import { type Need } from "./search-sql.ts"
import { spellingOf } from "./spelling.ts"

export interface Found {
  readonly found: ReadonlyArray<FoundRow>
  readonly total: number
}

type Places = Extract<Need, { readonly _tag: "places" }>

const nothing: Found = { found: [], total: 0 }

/** The search's words with what stands for each; by likeness of the whole where a word is like none. */
const spelled = Effect.fn("Directory.spelled")(function*(repo: DirectoryRepo, search: string) {
  const byWord = Arr.groupBy(yield* repo.candidates(search), ({ asked }) => asked)
  const spellings = Object.entries(byWord).map(([asked, rows]) =>
    spellingOf(asked, rows.flatMap(({ word }) => word ?? []))
  )
  const known = spellings.length > 0 && spellings.every(({ levels }) => levels[2].length > 0)
  return (known ? { _tag: "words", spellings } : { _tag: "likeness", search }) satisfies Need
})

/** Which condition finds the fewest, and about how many. */
const fewest = Effect.fn("Directory.fewest")(function*(repo: DirectoryRepo, drivers: Arr.NonEmptyReadonlyArray<Need>) {
  const estimates = yield* Effect.forEach(
    drivers,
    (by) => Effect.map(repo.estimate(by), (rows) => ({ by, rows })),
    { concurrency: "unbounded" }
  )
  return Arr.min(estimates, Order.mapInput(Order.number, ({ rows }: { readonly rows: number }) => rows))
})

/** What it costs to look at an entry through an index alone, when fetching it costs 1. */
const byIndex = 0.1

/** A walk that costs less is taken without asking what else there is. */
const shortWalk = 2_000

/** What is counted beforehand: by category, kind and tier, everywhere or in whole states. */
const searchCommon = Effect.fn("Directory.searchCommon")(
  function*(
    repo: DirectoryRepo,
    filters: Filters,
    placed: Places | undefined,
    common: ReadonlyArray<Need>,
    page: PageOptions
  ) {
    const { category = "", kind, tier } = filters
    const needs = placed === undefined ? common : [placed, ...common]
    const rest = placed === undefined || placed.ids.length === 0 ? undefined : { ...placed, states: [] }
    const [counted, among] = yield* Effect.all([
      placed?.states.length === 0
        ? Effect.succeed(0)
        : repo.countedBy({ category, kind, tier, states: placed?.states }),
      repo.countedBy({ category: "", kind: undefined, tier, states: undefined })
    ], { concurrency: 2 })
    if (rest === undefined && counted === 0) return nothing

    // To fill a page from the best on. A tier's entries are at the top; about half as many others are between them.
    const each = category === "" ? byIndex : 1
    const walk = each * page.count * among * (tier === undefined ? 1 : 1.5) / Math.max(1, counted)
    const drivers = needs.filter(({ _tag }) => _tag !== "tier")
    if ((rest !== undefined || walk > shortWalk) && Arr.isNonEmptyReadonlyArray(drivers)) {
      const [{ by, rows }, others] = yield* Effect.all([
        fewest(repo, drivers),
        rest === undefined ? Effect.succeed(0) : repo.estimate(rest)
      ], { concurrency: 2 })
      if (rows * (by === placed ? each : 1) < walk + each * others) return yield* repo.gathered(by, needs, page)
    }
    const [elsewhere, found] = yield* Effect.all([
      rest === undefined ? Effect.succeed(0) : repo.countOf(rest, [rest, ...common]),
      repo.walked(needs, page)
    ], { concurrency: 2 })
    return { found, total: counted + elsewhere }
  }
)

/**
 * Finds a page and the exact total. The condition that finds the fewest goes first, the others look at what it found:
 * PostgreSQL would combine the indexes, at many times the cost. What is common is counted beforehand (migration 0004).
 */
export const search = Effect.fn("Directory.search")(
  function*(repo: DirectoryRepo, filters: Filters, page: PageOptions) {
    const { category, circle, city, kind, location, tier } = filters
    const [places, words] = yield* Effect.all([
      city !== undefined
        ? repo.cities(city, location ?? null)
        : location === undefined
        ? Effect.succeed(undefined)
        : repo.located(location),
      filters.search === undefined ? Effect.succeed(undefined) : spelled(repo, filters.search)
    ], { concurrency: 2 })
    if (places?.ids.length === 0 && places.states.length === 0) return nothing

    const common: ReadonlyArray<Need> = [
      ...(category === undefined ? [] : [{ _tag: "category", category } as const]),
      ...(kind === undefined ? [] : [{ _tag: "kind", kind } as const]),
      ...(tier === undefined ? [] : [{ _tag: "tier", tier } as const])
    ]
    const placed = places === undefined ? undefined : { _tag: "places", ...places } as const
    if (words === undefined && circle === undefined && city === undefined) {
      return yield* searchCommon(repo, filters, placed, common, page)
    }
    const drivers: ReadonlyArray<Need> = [
      ...(placed === undefined ? [] : [placed]),
      ...(circle === undefined ? [] : [{ _tag: "circle", circle } as const]),
      ...(words === undefined ? [] : [words])
    ]
    const needs = [...drivers, ...common]
    const [first] = drivers
    // Likeness can't be asked of a row that something else found; a city has few enough.
    const sure = words?._tag === "likeness" ? words : city !== undefined || drivers.length === 1 ? first : undefined
    if (sure !== undefined) return yield* repo.gathered(sure, needs, page)
    return Arr.isNonEmptyReadonlyArray(drivers)
      ? yield* repo.gathered((yield* fewest(repo, drivers)).by, needs, page)
      : nothing
  }
)
