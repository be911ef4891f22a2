import { ListingTier } from "#src/plans/ListingTier.ts"
import { maybe } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

const owned = { accountId: Schema.String, projectId: Schema.String }
const Counted = Schema.Struct({
  ...owned,
  tier: ListingTier,
  views: Schema.Int,
  clicks: Schema.Int,
  impressions: Schema.Int,
  referrals: Schema.Int,
  transactions: Schema.Int
})

const Daily = Schema.Struct({
  ...owned,
  tier: ListingTier,
  name: Schema.String,
  counts: Schema.Array(Schema.Struct({
    day: Schema.String,
    views: Schema.Int,
    clicks: Schema.Int,
    transactions: Schema.Int
  }))
})
const Whereabouts = Schema.Struct({
  ...owned,
  city: Schema.String,
  state: Schema.String,
  latitude: Schema.NullOr(Schema.Number),
  longitude: Schema.NullOr(Schema.Number),
  categories: Schema.Array(Schema.String),
  industry: Schema.String,
  templateType: Schema.String
})

/** Listings in any status, with their owner; days are UTC (`YYYY-MM-DD`). */
export class ListingAnalyticsRepo extends Effect.Service<ListingAnalyticsRepo>()("hub/ListingAnalyticsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const sum = (kind: string) => sql`coalesce(sum(n) FILTER (WHERE kind = ${kind}), 0)::int`

    const listings = sql`listings l JOIN businesses b ON b.id = l.business_id JOIN projects p ON p.id = b.project_id`
    const owner = sql`p.account_id, p.id AS project_id`

    return {
      owner: maybe(Schema.Struct(owned))((listingId: string) =>
        sql`SELECT ${owner} FROM ${listings} WHERE l.id = ${listingId}`
      ),
      whereabouts: maybe(Whereabouts)((listingId: string) =>
        sql`SELECT ${owner}, l.city, l.state, l.latitude, l.longitude, l.categories, l.industry, l.template_type
            FROM ${listings} WHERE l.id = ${listingId}`
      ),
      /** The events of each day since one; none for days without. */
      daily: maybe(Daily)((listingId: string, day: string) =>
        sql`SELECT ${owner}, l.tier, l.name, (SELECT coalesce(json_agg(e ORDER BY e.day), '[]') FROM (
              SELECT day, ${sum("view")} AS views, ${sum("click")} AS clicks, ${sum("transaction")} AS transactions
              FROM listing_events WHERE listing_id = l.id AND day >= ${day} GROUP BY day
            ) e) AS counts
            FROM ${listings} WHERE l.id = ${listingId}`
      ),
      /** The events since a day. */
      since: maybe(Counted)((listingId: string, day: string) =>
        sql`SELECT ${owner}, l.tier, e.* FROM ${listings},
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
