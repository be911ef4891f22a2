import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { ListingNotFound } from "#src/listings/Listing.ts"
import { isUlid } from "#src/shared/ids.ts"
import { now } from "#src/shared/now.ts"
import { Effect, Option } from "effect"
import { daysOf, InvalidInput, type ListingAnalytics, NotYourListing, type Period } from "./ListingAnalytics.ts"
import { ListingAnalyticsRepo } from "./ListingAnalyticsRepo.ts"

const millisOfDay = 86_400_000
const isPeriod = (text: string): text is Period => Object.hasOwn(daysOf, text)

const percent = (count: number, views: number) => views === 0 ? 0 : Math.round(count / views * 10_000) / 100

/** What happened to a listing, for its owner (contract: Listing analytics). */
export class ListingAnalyticsReads extends Effect.Service<ListingAnalyticsReads>()("hub/ListingAnalyticsReads", {
  effect: Effect.gen(function*() {
    const repo = yield* ListingAnalyticsRepo

    const get = Effect.fn("ListingAnalyticsReads.get")(function*(id: string, period = "30d") {
      if (!isUlid(id)) return yield* new InvalidInput({ reason: "id: must be a 26-character ULID" })
      if (!isPeriod(period)) return yield* new InvalidInput({ reason: "period: must be 7d, 30d or 90d" })
      const { accountId } = yield* CurrentActor
      const first = new Date((yield* now).getTime() - (daysOf[period] - 1) * millisOfDay)
      const counted = yield* repo.since(id, first.toISOString().slice(0, 10))
      if (Option.isNone(counted)) return yield* new ListingNotFound()
      const { accountId: owner, clicks, impressions, referrals, tier, transactions, views } = counted.value
      if (owner !== accountId) return yield* new NotYourListing()
      return {
        tier,
        period,
        view_count: views,
        ...(tier === "basic" ? {} : { click_count: clicks, click_through_rate: percent(clicks, views) }),
        ...(tier === "premium"
          ? {
            search_impressions: impressions,
            referral_clicks: referrals,
            conversion_rate: percent(transactions, views)
          }
          : {})
      } satisfies ListingAnalytics
    }, withPolicy(sessionOnly))

    return { get } as const
  })
}) {}
