import { sessionOnly, withPolicy } from "#src/accounts/Policy.ts"
import { UnmetSearches } from "#src/analytics/UnmetSearches.ts"
import { stateKey } from "#src/directory/search-record.ts"
import { cellsOf } from "#src/directory/sphere.ts"
import { levelOfTier } from "#src/listings/VerificationLevel.ts"
import { type ListingTier } from "#src/plans/ListingTier.ts"
import { now } from "#src/shared/now.ts"
import { Effect } from "effect"
import {
  type DailyAnalytics,
  daysOf,
  type ListingAnalytics,
  type Period,
  type UnmetSearch,
  type UnmetSearchList
} from "./ListingAnalytics.ts"
import { ListingAnalyticsRepo } from "./ListingAnalyticsRepo.ts"
import { listingId, ownOnly, periodOf } from "./own-listing.ts"

const millisOfDay = 86_400_000
/** A search for a circle is near when the square of its centre is within so many miles. */
const nearMiles = 25
const mostSearches = 50

const percent = (count: number, views: number) => views === 0 ? 0 : Math.round(count / views * 10_000) / 100

/** Contract: Listing analytics. Which tier sees which fields, in sums and by day. */
const gated = <A extends object, B extends object>(tier: ListingTier, featured: A, premium: B): Partial<A & B> => ({
  ...(tier === "basic" ? {} : featured),
  ...(tier === "premium" ? premium : {})
})

/** The UTC days of a period, oldest first (`YYYY-MM-DD`). */
const daysUpTo = (today: Date, period: Period) =>
  Array.from(
    { length: daysOf[period] },
    (_, at) => new Date(today.getTime() - (daysOf[period] - 1 - at) * millisOfDay).toISOString().slice(0, 10)
  )

/** Empty texts stand for what was not asked for. */
const given = <Fields extends Readonly<Record<string, string>>>(fields: Fields): Partial<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, text]) => text !== "")) as Partial<Fields>

/** What happened to a listing, for its owner (contract: Listing analytics). */
export class ListingAnalyticsReads extends Effect.Service<ListingAnalyticsReads>()("hub/ListingAnalyticsReads", {
  effect: Effect.gen(function*() {
    const repo = yield* ListingAnalyticsRepo
    const unmetSearches = yield* UnmetSearches

    const get = Effect.fn("ListingAnalyticsReads.get")(function*(id: string, asked?: string) {
      const [listing, period] = [yield* listingId(id), yield* periodOf(asked)]
      const [first = ""] = daysUpTo(yield* now, period)
      const { clicks, impressions, referrals, tier, transactions, views } = yield* ownOnly(
        yield* repo.since(listing, first)
      )
      return {
        tier,
        period,
        view_count: views,
        ...gated(tier, { click_count: clicks, click_through_rate: percent(clicks, views) }, {
          search_impressions: impressions,
          referral_clicks: referrals,
          conversion_rate: percent(transactions, views)
        })
      } satisfies ListingAnalytics
    }, withPolicy(sessionOnly))

    /** Views, clicks and transactions of each day. */
    const daily = Effect.fn("ListingAnalyticsReads.daily")(function*(id: string, asked?: string) {
      const [listing, period] = [yield* listingId(id), yield* periodOf(asked)]
      const days = daysUpTo(yield* now, period)
      const { counts, name, tier } = yield* ownOnly(yield* repo.daily(listing, days[0] ?? ""))
      const byDay = new Map(counts.map((count) => [count.day, count]))
      return {
        name,
        tier,
        period,
        days: days.map((day) => {
          const { clicks = 0, transactions = 0, views = 0 } = byDay.get(day) ?? {}
          return {
            day,
            view_count: views,
            ...gated(tier, { click_count: clicks }, { transaction_count: transactions })
          }
        })
      } satisfies DailyAnalytics
    }, withPolicy(sessionOnly))

    /** What agents searched for near the business, or of its kind, and did not find. */
    const unmet = Effect.fn("ListingAnalyticsReads.unmet")(function*(id: string, asked?: string) {
      const [listing, period] = [yield* listingId(id), yield* periodOf(asked)]
      const { categories, city, industry, latitude, longitude, state, templateType } = yield* ownOnly(
        yield* repo.whereabouts(listing)
      )
      const surroundings = {
        city,
        state: stateKey(state),
        squares: latitude === null || longitude === null
          ? []
          : cellsOf({ lat: latitude, lng: longitude, miles: nearMiles }),
        categories,
        kinds: [industry, templateType]
      }
      const found = yield* unmetSearches.around(surroundings, daysOf[period], mostSearches + 1)
      const searches = found.slice(0, mostSearches).map(
        ({ category, city, isNear, kind, lastDay, state, times, verification, words }): UnmetSearch => ({
          ...given({ words, category, vertical: kind, city, state }),
          ...(verification === 0 ? {} : { min_verification: levelOfTier(verification) }),
          near: isNear,
          times,
          last_day: lastDay
        })
      )
      return { period, searches, has_more: found.length > mostSearches } satisfies UnmetSearchList
    }, withPolicy(sessionOnly))

    return { get, daily, unmet } as const
  })
}) {}
