import { ListingTier } from "#src/listings/Listing.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { optional, Query } from "#src/shared/text.ts"
import { Schema } from "effect"

/** Days of a period, today included (UTC). */
export const daysOf = { "7d": 7, "30d": 30, "90d": 90 } as const
export type Period = keyof typeof daysOf
const Period = Schema.Literal("7d", "30d", "90d")

const rate = (what: string) =>
  optional(Schema.Number).annotations({ description: `${what} in percent of the views, 2 decimals; 0 without views` })

/** Contract: Listing analytics. Higher tiers of the listing have more fields. */
export const ListingAnalytics = Schema.Struct({
  tier: ListingTier,
  period: Period,
  view_count: Schema.Int,
  click_count: optional(Schema.Int).annotations({ description: "featured and premium listings only" }),
  click_through_rate: rate("Clicks"),
  search_impressions: optional(Schema.Int).annotations({ description: "premium listings only" }),
  referral_clicks: optional(Schema.Int),
  conversion_rate: rate("Transactions")
}).annotations({ title: "ListingAnalytics" })
export type ListingAnalytics = typeof ListingAnalytics.Type

/** Any text: the service answers what it does not know with the contract's `invalid_input`. */
export const analyticsFields = {
  period: optional(Schema.String).annotations({ description: "7d, 30d (the default) or 90d: UTC days up to today" })
}
export const AnalyticsQuery = Query(analyticsFields)

/** Contract: Hub error codes, analytics. */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()(
  "InvalidInput",
  { reason: Schema.String },
  failsWith(400, "INVALID_INPUT")
) {
  override get message() {
    return this.reason
  }
}

export class NotYourListing extends Schema.TaggedError<NotYourListing>()("NotYourListing", {}, failsWith(403)) {
  override get message() {
    return "The listing is another account's"
  }
}
