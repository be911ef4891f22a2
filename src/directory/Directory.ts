import { Events } from "#src/analytics/Events.ts"
import { UnmetSearches } from "#src/analytics/UnmetSearches.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { type ListedListing, ListingNotFound } from "#src/listings/Listing.ts"
import { levelOfTier } from "#src/listings/VerificationLevel.ts"
import { mcpUrl } from "#src/servers/addresses.ts"
import { isUlid } from "#src/shared/ids.ts"
import { decodeCursor, encodeCursor } from "#src/shared/paging.ts"
import { Effect, Option } from "effect"
import { createHash } from "node:crypto"
import { countFacets } from "./count-facets.ts"
import { DirectoryCounts } from "./DirectoryCounts.ts"
import { type DirectoryQuery, type FacetsQuery, type Filters, filtersOf } from "./DirectoryQuery.ts"
import { DirectoryRepo, type FoundRow } from "./DirectoryRepo.ts"
import { FacetsRepo } from "./FacetsRepo.ts"
import { PublicListingsRepo } from "./PublicListingsRepo.ts"
import { searchOf } from "./search-record.ts"
import { type Key } from "./search-sql.ts"
import { search } from "./search.ts"
import { distanceMiles } from "./sphere.ts"

const keyText = ({ band, number, rank }: Key) => `${band} ${rank} ${number}`
const keyPattern = /^(\d{1,10}) (-?\d{1,6}) (\d{1,10})$/
const maxInteger = 2_147_483_647
const keyOf = (text: string): Key => {
  const [, band, rank, number] = keyPattern.exec(text) ?? []
  return { band: Number(band), rank: Number(rank), number: Number(number) }
}
const isKey = (text: string) => keyPattern.test(text) && text.split(" ").every((part) => Number(part) <= maxInteger)

/** A cursor is valid only for the same query; the limit may differ. */
const listName = (filters: Filters) => {
  const query = JSON.stringify(Object.entries(filters).sort(([a], [b]) => a < b ? -1 : 1))
  return `directory ${createHash("sha256").update(query).digest("base64url").slice(0, 16)}`
}

/** The public directory: active listings, searchable by category, place and name. */
export class Directory extends Effect.Service<Directory>()("directory/Directory", {
  effect: Effect.gen(function*() {
    const repo = yield* DirectoryRepo
    const counts = yield* DirectoryCounts
    const facetsRepo = yield* FacetsRepo
    const listings = yield* PublicListingsRepo
    const events = yield* Events
    const unmet = yield* UnmetSearches
    const settings = yield* CurrentSettings

    const urlOf = (slug: string | null) => slug === null ? "" : mcpUrl(settings, slug)

    const view = ({ circle }: Filters) => (row: FoundRow): ListedListing => {
      const {
        band: _band,
        isPlaceApproximate,
        latitude,
        longitude,
        number: _number,
        serverSlug,
        verificationTier,
        ...listing
      } = row
      return {
        ...listing,
        verificationLevel: levelOfTier(verificationTier),
        mcpServerUrl: urlOf(serverSlug),
        ...(circle === undefined || latitude === null || longitude === null ? {} : {
          distanceMiles: Math.round(distanceMiles(circle, { lat: latitude, lng: longitude }) * 100) / 100,
          ...(isPlaceApproximate ? { distanceIsApproximate: true as const } : {})
        })
      }
    }

    const recordSeen = (filters: Filters, ids: ReadonlyArray<string>, total: number) =>
      Effect.zipRight(
        filters.search === undefined ? Effect.void : events.record("search_impression", ids),
        total === 0 ? unmet.record(searchOf(filters)) : Effect.void
      )

    /** Counts what was shown of a search whose pages were read unseen. `total`: how many it found. */
    const seen = Effect.fn("Directory.seen")(function*(
      query: typeof FacetsQuery.Type,
      ids: ReadonlyArray<string>,
      total: number
    ) {
      yield* recordSeen(yield* filtersOf(query), ids, total)
    })

    /** `isSeen`: the page counts as an impression of its listings or, when it is empty, as a search that found nothing. */
    const list = Effect.fn("Directory.list")(function*(query: DirectoryQuery, isSeen = true) {
      const filters = yield* filtersOf(query)
      const name = listName(filters)
      const after = query.cursor === undefined
        ? undefined
        : keyOf(yield* decodeCursor(name, query.cursor, isKey))
      const { rows: page, total } = yield* search(repo, filters, { after, count: query.limit + 1 })
      const rows = page.slice(0, query.limit)
      const last = rows.at(-1)
      const hasMore = page.length > query.limit
      if (isSeen) yield* recordSeen(filters, rows.map(({ id }) => id), total)
      const cursor = hasMore && last !== undefined
        ? encodeCursor(name, keyText({ band: last.band, rank: -last.relevanceScore, number: last.number }))
        : null
      return { data: rows.map(view(filters)), meta: { cursor, hasMore, total } }
    })

    /** Which categories, kinds and cities there are to filter by, under the filters given. */
    const facets = Effect.fn("Directory.facets")(function*(query: typeof FacetsQuery.Type) {
      return yield* countFacets(repo, facetsRepo, yield* filtersOf(query))
    })

    /** `isView`: counts as one. */
    const get = Effect.fn("Directory.get")(function*(id: string, isView = true) {
      const row = isUlid(id) ? yield* listings.find(id) : Option.none()
      if (Option.isNone(row)) return yield* new ListingNotFound()
      if (isView) yield* events.record("view", [id])
      const { serverSlug, verificationTier, ...listing } = row.value
      return {
        ...listing,
        verificationLevel: levelOfTier(verificationTier),
        mcpServerUrl: urlOf(serverSlug)
      }
    })

    const tidy = Effect.all([counts.fold, events.forget, unmet.forget], { discard: true })

    return { list, seen, facets, get, tidy } as const
  })
}) {}
