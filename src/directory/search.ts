import { Array, Effect } from "effect"
import { type Filters } from "./DirectoryQuery.ts"
import { type DirectoryRepo, type FoundRow, type PageOptions } from "./DirectoryRepo.ts"
import { type Need } from "./search-sql.ts"
import { spellingOf } from "./spelling.ts"

export interface Found {
  readonly found: ReadonlyArray<FoundRow>
  readonly total: number
}

const nothing: Found = { found: [], total: 0 }

/** The search's words with what stands for each; by likeness of the whole where a word is like none. */
const spelled = Effect.fn("Directory.spelled")(function*(repo: DirectoryRepo, search: string) {
  const byWord = Array.groupBy(yield* repo.candidates(search), ({ asked }) => asked)
  const spellings = Object.entries(byWord).map(([asked, rows]) =>
    spellingOf(asked, rows.flatMap(({ word }) => word ?? []))
  )
  const known = spellings.length > 0 && spellings.every(({ levels }) => levels[2].length > 0)
  return (known ? { _tag: "words", spellings } : { _tag: "likeness", search }) satisfies Need
})

/** A place is at most so many of the entries, when it is the only one. */
const fewPlaces = 5

/** Which condition finds the fewest. */
const fewest = Effect.fn("Directory.fewest")(function*(repo: DirectoryRepo, drivers: ReadonlyArray<Need>) {
  const [first] = drivers
  if (drivers.length < 2) return first
  const estimates = yield* Effect.forEach(drivers, repo.estimate, { concurrency: "unbounded" })
  return drivers[estimates.indexOf(Math.min(...estimates))]
})

/** From so many of all entries on, going through the list from the best on soon fills a page. */
const walkShare = 50

/**
 * Finds a page and the exact total. The condition that finds the fewest goes first, the others look at what it found:
 * PostgreSQL would combine the indexes, at many times the cost. What is common is counted beforehand (migration 0004).
 */
export const search = Effect.fn("Directory.search")(
  function*(repo: DirectoryRepo, filters: Filters, page: PageOptions) {
    const { category, circle, city, kind, location, tier } = filters
    const [places, words] = yield* Effect.all([
      city === undefined && location === undefined
        ? Effect.succeed(undefined)
        : repo.places({ city: city ?? null, location: location ?? null }),
      filters.search === undefined ? Effect.succeed(undefined) : spelled(repo, filters.search)
    ], { concurrency: 2 })
    if (places?.length === 0) return nothing

    const common: ReadonlyArray<Need> = [
      ...(category === undefined ? [] : [{ _tag: "category", category } as const]),
      ...(kind === undefined ? [] : [{ _tag: "kind", kind } as const]),
      ...(tier === undefined ? [] : [{ _tag: "tier", tier } as const])
    ]
    const placed: Need | undefined = places === undefined
      ? undefined
      : { _tag: "places", ids: places.map(({ id }) => id) }
    const drivers: ReadonlyArray<Need> = [
      ...(placed === undefined ? [] : [placed]),
      ...(circle === undefined ? [] : [{ _tag: "circle", circle } as const]),
      ...(words === undefined ? [] : [words])
    ]
    const needs = [...drivers, ...common]
    const everywhere = { category: category ?? "", kind, tier, states: undefined }

    // Likeness can't be asked of a row that something else found.
    if (words?._tag === "likeness") return yield* repo.gathered(words, needs, page)
    if (city !== undefined && placed !== undefined && places !== undefined && places.length <= fewPlaces) {
      return yield* repo.gathered(placed, needs, page)
    }
    if (words !== undefined || circle !== undefined || city !== undefined) {
      const by = yield* fewest(repo, drivers)
      return by === undefined ? nothing : yield* repo.gathered(by, needs, page)
    }

    if (placed !== undefined && places !== undefined) {
      const states = [...new Set(places.flatMap(({ state, whole }) => whole ? [state] : []))]
      const all = yield* repo.countedBy({ ...everywhere, category: "", kind: undefined, tier: undefined })
      const few = (yield* repo.estimate(placed)) < all / walkShare
      if (few) return yield* repo.gathered(placed, needs, page)
      const rest: Need = { _tag: "places", ids: places.flatMap(({ id, whole }) => whole ? [] : [id]) }
      const [inStates, elsewhere, found] = yield* Effect.all([
        states.length === 0 ? Effect.succeed(0) : repo.countedBy({ ...everywhere, states }),
        repo.countOf(rest, [rest, ...common]),
        repo.walked(needs, page)
      ], { concurrency: 3 })
      return { found, total: inStates + elsewhere }
    }

    const total = yield* repo.countedBy(everywhere)
    if (total === 0) return nothing
    const all = common.length === 0
      ? total
      : yield* repo.countedBy({ ...everywhere, category: "", kind: undefined, tier: undefined })
    const [first] = common
    if (first === undefined || first._tag === "tier" || total >= all / walkShare) {
      return { found: yield* repo.walked(needs, page), total }
    }
    return yield* repo.gathered(first, needs, page)
  }
)
