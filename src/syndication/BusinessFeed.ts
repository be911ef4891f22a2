import { CurrentSettings } from "#src/config/Settings.ts"
import { levelOfTier } from "#src/listings/VerificationLevel.ts"
import { BadRequest } from "#src/shared/Failure.ts"
import { Effect } from "effect"
import { BusinessFeedRepo, type ListedRow } from "./BusinessFeedRepo.ts"
import { decodePosition, encodePosition, type Position } from "./changes-token.ts"
import { ChangesTokenExpired, type FeedEntry, type FeedQuery } from "./FeedEntry.ts"
import { timeZoneOf } from "./time-zone.ts"
import { urlsOf } from "./urls.ts"

const noSuchToken = new BadRequest({
  reason: "changes_token: not one that this feed answered; leave it out to begin",
  issues: [{ path: "changes_token", message: "is not one that this feed answered" }]
})

/** The directory for those who keep a copy: everything once, and from then on what changed. */
export class BusinessFeed extends Effect.Service<BusinessFeed>()("syndication/BusinessFeed", {
  effect: Effect.gen(function*() {
    const repo = yield* BusinessFeedRepo
    const urls = urlsOf(yield* CurrentSettings)
    // A failure is not kept: the next reader tries again.
    let isSettled = false
    const settle = Effect.suspend(() =>
      isSettled ? Effect.void : Effect.tap(repo.settle, () => Effect.sync(() => (isSettled = true)))
    )

    const listed = (row: ListedRow): FeedEntry => {
      const { city, country, latitude, line1, longitude, serverSlug, state, verificationTier, zip, xid: _, ...rest } =
        row
      return {
        status: "listed",
        id: rest.id,
        businessId: rest.businessId,
        slug: rest.slug,
        name: rest.name,
        description: rest.description,
        categories: rest.categories,
        tags: rest.tags,
        templateType: rest.templateType,
        industry: rest.industry,
        address: { line1, city, state, zip, country },
        coordinates: latitude === null || longitude === null
          ? null
          : { lat: latitude, lng: longitude, isApproximate: rest.isPlaceApproximate },
        timeZone: timeZoneOf({ latitude, longitude, state, country }) ?? null,
        hours: rest.hours,
        phone: rest.phone,
        website: rest.website,
        featuredImageUrl: rest.featuredImageUrl,
        verificationLevel: levelOfTier(verificationTier),
        mcpServerUrl: urls.mcp(serverSlug),
        pageUrl: urls.page(rest.slug),
        skillUrl: urls.skill(rest.id),
        publishedAt: rest.publishedAt,
        updatedAt: rest.updatedAt
      }
    }

    /** The position of a token, if everything since then is still known. */
    const startOf = Effect.fn("BusinessFeed.startOf")(function*(
      token: string | undefined,
      { cluster, forgotten, horizon }: Effect.Effect.Success<ReturnType<typeof repo.state>>
    ) {
      if (token === undefined) return { cluster, xid: 0n, id: "", since: horizon } satisfies Position
      const position = decodePosition(token)
      if (position === undefined) return yield* noSuchToken
      const { since, xid } = position
      const known = since > xid ? since : xid
      // A position ahead of the horizon is one of a database that was set back in time.
      const isKnown = position.cluster === cluster && xid <= horizon && since <= horizon
      return isKnown && (forgotten === 0n || known > forgotten) ? position : yield* new ChangesTokenExpired()
    })

    /**
     * One page of changes, each listing at most once, as it is now. Only transactions that have ended before every one
     * that is still running are looked at: what commits late has a place behind the token, and is not missed.
     */
    const read = Effect.fn("BusinessFeed.read")(function*({ changes_token: token, limit }: FeedQuery) {
      yield* settle
      const state = yield* repo.state()
      const start = yield* startOf(token, state)
      const rows = yield* repo.changes(start, state.horizon, limit + 1)
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      const hasMore = rows.length > limit
      const end = hasMore && last !== undefined
        ? { ...start, xid: last.xid, id: last.id }
        : { ...start, xid: state.horizon, id: "" }
      return {
        data: page.map((row): FeedEntry =>
          row.businessId === null
            ? { status: "removed", id: row.id, slug: row.slug, removedAt: row.removedAt }
            : listed(row)
        ),
        meta: { changes_token: encodePosition(end), hasMore }
      }
    })

    return { read, forget: repo.forget } as const
  })
}) {}
