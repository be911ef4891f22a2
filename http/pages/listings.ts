import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { Businesses } from "#src/businesses/Businesses.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { ListingAnalyticsReads } from "#src/hub/ListingAnalyticsReads.ts"
import { HttpRouter } from "@effect/platform"
import { Effect } from "effect"
import { accountNav } from "./account-nav.ts"
import { analyticsPage } from "./analytics-page.ts"
import { currentQuery, linksOf } from "./links.ts"
import { listingsPage } from "./listings-page.ts"
import { toListing } from "./own-page.ts"
import { page, seeOther } from "./respond.ts"
import { visitor } from "./visit.ts"

const perPage = 50

/** The pages where owners see what happened to their listings. Access is the services' matter. */
export const makeListings = Effect.gen(function*() {
  const businesses = yield* Businesses
  const reads = yield* ListingAnalyticsReads
  const links = linksOf(yield* CurrentSettings)
  const query = Effect.map(currentQuery, (text) => new URLSearchParams(text))

  /** For those who are signed in; others sign in first, and come back. */
  const forVisitor = <E, R>(run: (actor: Actor) => Effect.Effect<string, E, R>) =>
    Effect.gen(function*() {
      const actor = yield* visitor
      if (actor !== undefined) return page(yield* Effect.provideService(run(actor), CurrentActor, actor))
      const { listingId } = yield* HttpRouter.params
      return seeOther(links.signIn(toListing(listingId, (yield* query).get("period"))))
    })

  const list = forVisitor((actor) =>
    Effect.gen(function*() {
      const cursor = (yield* query).get("cursor")
      const { data, meta } = yield* businesses.list({ limit: perPage, ...(cursor === null ? {} : { cursor }) })
      return listingsPage({
        nav: accountNav(links, "listings"),
        user: actor.email,
        listings: data.map(({ listingId, name }) => ({ name, href: links.listing(listingId) })),
        more: meta.cursor === null ? undefined : links.listings(String(new URLSearchParams({ cursor: meta.cursor })))
      })
    })
  )

  const show = forVisitor((actor) =>
    Effect.gen(function*() {
      const { listingId = "" } = yield* HttpRouter.params
      const period = (yield* query).get("period") ?? undefined
      const [sums, daily, unmet] = yield* Effect.all([
        reads.get(listingId, period),
        reads.daily(listingId, period),
        reads.unmet(listingId, period)
      ], { concurrency: "unbounded" })
      return analyticsPage({
        nav: accountNav(links),
        user: actor.email,
        sums,
        daily,
        unmet,
        href: (other) => links.listing(listingId, `period=${other}`)
      })
    })
  )

  return { list, show } as const
})
