import { writeBehind } from "#src/jobs/write-behind.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { addressBucket } from "#src/shared/client-address.ts"
import { now } from "#src/shared/now.ts"
import { Effect } from "effect"
import { askedWords } from "./asked-words.ts"
import { makeAskerLimit } from "./asker-limit.ts"
import { type Search, type Surroundings } from "./UnmetSearch.ts"
import { UnmetSearchesRepo } from "./UnmetSearchesRepo.ts"

const millisOfDay = 86_400_000
const keptDays = 90
/** About 5 MB in memory. */
const capacity = 10_000
const batch = 1_000
/** Characters. */
const longest = { words: 80, kind: 60, city: 60, state: 40 } as const
const dayOf = (at: Date) => at.toISOString().slice(0, 10)

/** What is kept of a search; undefined when no business could learn from it: it names no subject, or no place or kind. */
const keptOf = (search: Search): Search | undefined => {
  const kept = {
    ...search,
    words: askedWords(search.words, longest.words),
    category: askedWords(search.category, longest.kind),
    kind: askedWords(search.kind, longest.kind),
    city: askedWords(search.city, longest.city),
    state: askedWords(search.state, longest.state)
  }
  const { category, city, kind, square, state, words } = kept
  const isOfKind = category !== "" || kind !== ""
  const isAtPlace = city !== "" || state !== "" || square >= 0
  return isOfKind || (isAtPlace && words !== "") ? kept : undefined
}

/**
 * Searches that found nothing, counted by day and without who asked. Recording never waits and never fails. See
 * docs/decisions/unmet-searches.md.
 */
export class UnmetSearches extends Effect.Service<UnmetSearches>()("analytics/UnmetSearches", {
  scoped: Effect.gen(function*() {
    const repo = yield* UnmetSearchesRepo
    const isCounted = makeAskerLimit({ addresses: 1_000, searches: 100 })
    const { add, flush, size } = yield* writeBehind("Writing unmet searches", "5 seconds", {
      what: "unmet searches",
      names: ["n"],
      capacity,
      batch,
      write: repo.add
    })

    const record = (search: Search) =>
      Effect.zipWith(now, CallerAddress, (at, address) => {
        const kept = keptOf(search)
        if (kept === undefined) return
        const key = JSON.stringify(kept)
        const day = dayOf(at)
        if (isCounted(day, addressBucket(address), key)) add(`${day} ${key}`, () => ({ ...kept, day, n: 0 }), "n")
      })

    /** Those of the last days (UTC, today included) that a business can learn from, the nearest and most asked first. */
    const around = (business: Surroundings, days: number, count: number) =>
      Effect.flatMap(now, (at) => {
        return repo.around(
          {
            city: askedWords(business.city, longest.city),
            state: askedWords(business.state, longest.state),
            squares: business.squares,
            categories: business.categories.map((text) => askedWords(text, longest.kind)).filter((text) => text !== ""),
            kinds: business.kinds.map((text) => askedWords(text, longest.kind)).filter((text) => text !== "")
          },
          dayOf(new Date(at.getTime() - (days - 1) * millisOfDay)),
          count
        )
      })

    /** Deletes what is older than 90 days. */
    const forget = Effect.flatMap(now, (at) => repo.forget(dayOf(new Date(at.getTime() - keptDays * millisOfDay))))

    return { record, around, forget, flush, waiting: size } as const
  })
}) {}
