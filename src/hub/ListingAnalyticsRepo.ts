import { ListingTier } from "#src/listings/Listing.ts"
import { maybe } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

const Counted = Schema.Struct({
  accountId: Schema.String,
  tier: ListingTier,
  views: Schema.Int,
  clicks: Schema.Int,
  impressions: Schema.Int,
  referrals: Schema.Int,
  transactions: Schema.Int
})

export class ListingAnalyticsRepo extends Effect.Service<ListingAnalyticsRepo>()("hub/ListingAnalyticsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const sum = (kind: string) => sql`coalesce(sum(n) FILTER (WHERE kind = ${kind}), 0)::int`

    return {
      /** The events of a listing since a UTC day (`YYYY-MM-DD`), with its owner. */
      since: maybe(Counted)((listingId: string, day: string) =>
        sql`SELECT p.account_id, l.tier, e.* FROM listings l
            JOIN businesses b ON b.id = l.business_id JOIN projects p ON p.id = b.project_id,
            LATERAL (
              SELECT ${sum("view")} AS views, ${sum("click")} AS clicks, ${sum("search_impression")} AS impressions,
                ${sum("referral_click")} AS referrals, ${sum("transaction")} AS transactions
              FROM listing_events WHERE listing_id = l.id AND day >= ${day}
            ) e
            WHERE l.id = ${listingId}`
      )
    } as const
  })
}) {}
