import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { anyScope, withPolicy } from "#src/accounts/Policy.ts"
import { Events } from "#src/analytics/Events.ts"
import { Idempotency, IdempotentRun } from "#src/shared/Idempotency.ts"
import { now } from "#src/shared/now.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option, Schema } from "effect"
import { RecordedTransaction } from "./ListingAnalytics.ts"
import { ListingAnalyticsRepo } from "./ListingAnalyticsRepo.ts"
import { listingId, ownOnly } from "./own-listing.ts"

const { decode, encode } = (() => {
  const json = Schema.parseJson(RecordedTransaction)
  return { decode: Schema.decode(json), encode: Schema.encode(json) }
})()

/** Transactions that listings led to, told by the business itself: its conversions (contract: Listing analytics). */
export class Transactions extends Effect.Service<Transactions>()("hub/Transactions", {
  effect: Effect.gen(function*() {
    const repo = yield* ListingAnalyticsRepo
    const events = yield* Events
    const idempotency = yield* Idempotency
    const sql = yield* SqlClient.SqlClient

    /** Count and answer are one transaction: a repeat after a crash finds both or neither. */
    const countOnce = Effect.fn("Transactions.countOnce")(function*(recorded: typeof RecordedTransaction.Type) {
      const { checkpoint, recovered } = yield* IdempotentRun
      if (Option.isSome(recovered)) return recovered.value
      const body = yield* Effect.orDie(encode(recorded))
      yield* transactionally(sql)(
        Effect.zipRight(events.commit("transaction", recorded.listing_id), checkpoint(body))
      )
      return body
    })

    /**
     * Counts one transaction; with the same key within 24 hours none further, whichever door and credential the repeat
     * comes with.
     */
    const record = Effect.fn("Transactions.record")(function*(id: string, idempotencyKey?: string) {
      const { accountId } = yield* CurrentActor
      const listing = yield* listingId(id)
      yield* ownOnly(yield* repo.owner(listing))
      const recorded = { listing_id: listing, recorded_at: yield* now }
      if (idempotencyKey === undefined) return yield* Effect.as(events.record("transaction", [listing]), recorded)
      const stored = yield* idempotency.once(
        { accountId, holder: `transaction ${listing}`, key: idempotencyKey, content: listing },
        Effect.map(countOnce(recorded), (body) => ({
          status: 201,
          contentType: null,
          location: null,
          cookies: [],
          body
        }))
      )
      return yield* Effect.orDie(decode(stored.body))
    }, withPolicy(anyScope("servers:write")))

    return { record } as const
  })
}) {}
