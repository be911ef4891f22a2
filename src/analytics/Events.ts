import { writeBehind } from "#src/jobs/write-behind.ts"
import { CallerAddress } from "#src/shared/CallerAddress.ts"
import { addressBucket } from "#src/shared/client-address.ts"
import { Clock, Effect } from "effect"
import { EventsRepo } from "./EventsRepo.ts"
import { makeReferralLimit } from "./referral-limit.ts"

/** What happens to listings. */
export type EventKind = "view" | "search_impression" | "click" | "referral_click" | "transaction"

const dayOf = (millis: number) => new Date(millis).toISOString().slice(0, 10)

/** About 10 MB in memory. */
const capacity = 50_000
const batch = 5_000

/**
 * Events of listings, counted by day. Recording never waits and never fails: counts are kept in memory and flushed each
 * second and at shutdown. Each event also counts towards its business's interactions.
 */
export class Events extends Effect.Service<Events>()("analytics/Events", {
  scoped: Effect.gen(function*() {
    const repo = yield* EventsRepo
    // About 5 MB in memory.
    const isFirstReferral = makeReferralLimit({ entries: 30_000, millis: 3_600_000 })
    const { add, flush, size } = yield* writeBehind("Writing events", "1 second", {
      what: "events",
      names: ["n"],
      capacity,
      batch,
      write: repo.add
    })

    /** Counts one event of the kind for each listing. */
    const record = (kind: EventKind, listingIds: ReadonlyArray<string>) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const day = dayOf(now)
        for (const listingId of listingIds) {
          add(`${listingId} ${day} ${kind}`, () => ({ listingId, day, kind, n: 0 }), "n")
        }
      })

    /** Counts a referral to the listing, once an hour for the caller's address. */
    const refer = Effect.fnUntraced(function*(listingId: string) {
      const now = yield* Clock.currentTimeMillis
      if (isFirstReferral(now, addressBucket(yield* CallerAddress), listingId)) {
        yield* record("referral_click", [listingId])
      }
    })

    /** Counts one at once, for a transaction of the caller's; fails as a statement does. */
    const commit = (kind: EventKind, listingId: string) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => repo.add([{ listingId, day: dayOf(now), kind, n: 1 }]))

    return { record, refer, commit, flush, forget: repo.forget, waiting: size } as const
  })
}) {}
