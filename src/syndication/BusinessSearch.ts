import { CurrentSettings } from "#src/config/Settings.ts"
import { Directory } from "#src/directory/Directory.ts"
import { type DirectoryQuery } from "#src/directory/DirectoryQuery.ts"
import { ItemMatches } from "#src/directory/ItemMatches.ts"
import { lineOf } from "#src/format/markdown-text.ts"
import { formatPrice } from "#src/format/price.ts"
import { type ListedListing } from "#src/listings/Listing.ts"
import { levelOfTier } from "#src/listings/VerificationLevel.ts"
import { type Page } from "#src/shared/paging.ts"
import { Clock, Effect, Struct } from "effect"
import { openNowOf } from "./open-now.ts"
import { isOpenNow } from "./opening.ts"
import { priceLimitOf } from "./price-limit.ts"
import {
  type DiscoverNearby,
  farthest,
  type FoundBusiness,
  type FoundBusinesses,
  type SearchBusinesses
} from "./PublicBusiness.ts"
import { PublicBusinessesRepo } from "./PublicBusinessesRepo.ts"
import { urlsOf } from "./urls.ts"

const perPage = 100
/** What is open is not in the index of the directory: so many of the best matches are looked at. */
const mostPages = 5

/** What of a listing is told. */
type Shown =
  & Pick<
    ListedListing,
    "businessSlug" | "name" | "description" | "categories" | "city" | "state" | "verificationLevel"
  >
  & Partial<Pick<ListedListing, "distanceMiles">>

interface Found {
  readonly id: string
  readonly business: FoundBusiness
}

/** So many businesses are found by what they offer: enough for a page, more where those that are closed are left out. */
const mostByItem = ({ limit, open_now: open }: Wanted) => open === true ? 100 : limit + 1

type Search = Omit<DirectoryQuery, "limit" | "cursor">

interface Wanted {
  readonly limit: number
  readonly open_now?: boolean
  /** US cents: what the item that is looked for may cost. */
  readonly mostCents?: number
}

/** "Open now" in words is the filter. */
const openWanted = (input: typeof SearchBusinesses.Type): typeof SearchBusinesses.Type => {
  const { query = "", ...others } = input
  const rest = openNowOf(query)
  return rest === undefined ? input : { ...others, open_now: true, ...(rest === "" ? {} : { query: rest }) }
}

/** What a limit of the price did. `within`: how many offer what was searched for at that price, `offering`: at any. */
const priceHint = (mostCents: number, within: number, offering: number) => {
  const price = formatPrice({ priceCents: mostCents, priceType: "fixed" })
  if (within > 0) return `Each matchedItem is ${price} or less; businesses without one come after them.`
  return offering > 0
    ? `Nothing that matches is known to be ${price} or less: each matchedItem is dearer or has no price.`
    : `No item has all of the words, so ${price} or less chose nothing: see get_menus for prices.`
}

const partialHint =
  "No business and no item has all of these words: those shown have some of them, or words that mean the same."

/** Searches of the directory for agents without a login: small answers, without the listings that left that door. */
export class BusinessSearch extends Effect.Service<BusinessSearch>()("syndication/BusinessSearch", {
  effect: Effect.gen(function*() {
    const directory = yield* Directory
    const items = yield* ItemMatches
    const repo = yield* PublicBusinessesRepo
    const urls = urlsOf(yield* CurrentSettings)

    const view = (listing: Shown, isOpenNow: boolean | null): FoundBusiness => ({
      slug: listing.businessSlug,
      name: lineOf(listing.name, 120),
      about: lineOf(listing.description, 160),
      categories: listing.categories.slice(0, 5).map((category) => lineOf(category, 60)),
      city: listing.city,
      state: listing.state,
      verificationLevel: listing.verificationLevel,
      isOpenNow,
      ...Struct.pick(listing, "distanceMiles"),
      pageUrl: urls.page(listing.businessSlug)
    })

    /** Reads pages of the directory until enough of their listings fit. */
    const collect = Effect.fn("BusinessSearch.collect")(function*(search: Search, { limit, open_now: open }: Wanted) {
      const now = yield* Clock.currentTimeMillis
      const found: Array<Found> = []
      let openUnknown = 0
      let total = 0
      let cursor: string | null = null
      for (let pages = 0; pages < mostPages && found.length <= limit; pages++) {
        const query: DirectoryQuery = {
          ...search,
          // Mostly the first page is enough; a few of it may have left.
          limit: pages === 0 && open !== true ? limit + 5 : perPage,
          ...(cursor === null ? {} : { cursor })
        }
        const { data, meta }: Page<ListedListing> = yield* directory.list(query, false)
        const standings = new Map((yield* repo.standings(data.map(({ id }) => id))).map((row) => [row.id, row]))
        for (const listing of data) {
          const standing = standings.get(listing.id)
          if (standing?.agentAccess !== true) continue
          const isOpen = isOpenNow(standing, now)
          if (open === true && isOpen === null) openUnknown++
          if (open !== true || isOpen === true) found.push({ id: listing.id, business: view(listing, isOpen) })
        }
        total = meta.total
        cursor = meta.cursor
        if (cursor === null) break
      }
      return { found, total, isCut: cursor !== null, openUnknown }
    })

    /** Those that offer what is searched for. */
    const collectByItem = Effect.fn("BusinessSearch.collectByItem")(function*(search: Search, wanted: Wanted) {
      if (search.search === undefined) return []
      const now = yield* Clock.currentTimeMillis
      const asked = { ...search, ...Struct.pick(wanted, "mostCents"), search: search.search }
      const rows = yield* items.find(asked, mostByItem(wanted))
      const standings = new Map((yield* repo.standings(rows.map(({ id }) => id))).map((row) => [row.id, row]))
      return rows.flatMap((row): Array<Found> => {
        const { furtherItems, id, item, priceCents, priceType, verificationTier, ...listing } = row
        const standing = standings.get(id)
        if (standing?.agentAccess !== true) return []
        const isOpen = isOpenNow(standing, now)
        if (wanted.open_now === true && isOpen !== true) return []
        const matchedItem = {
          name: lineOf(item, 120),
          price: formatPrice({ priceCents, priceType }),
          ...(furtherItems === 0 ? {} : { furtherItems })
        }
        const shown = view({ ...listing, verificationLevel: levelOfTier(verificationTier) }, isOpen)
        return [{ id, business: { ...shown, matchedItem } }]
      })
    })

    /**
     * First those whose own words are all that was searched for, then those that offer it, then those that have some of the
     * words. With a price those that offer it come first, and where nobody offers it for that, those that do for more.
     */
    const collectAll = Effect.fn("BusinessSearch.collectAll")(function*(search: Search, wanted: Wanted) {
      const { found: listed, isCut, openUnknown, total } = yield* collect(search, wanted)
      const { mostCents, ...atAnyPrice } = wanted
      const within = yield* collectByItem(search, wanted)
      const isDearer = mostCents !== undefined && within.length === 0
      const offering = isDearer ? yield* collectByItem(search, atAnyPrice) : within
      const named = search.search === undefined || listed.length === 0 || mostCents !== undefined
        ? new Set<string>()
        : yield* items.named(search.search, listed.map(({ id }) => id))
      const byId = new Map([...listed, ...offering].map((one) => [one.id, one]))
      const first = offering.length === 0 ? [] : listed.filter(({ id }) => named.has(id))
      const order = [...first, ...offering, ...listed].map(({ id }) => id)
      const found = [...new Set(order)].flatMap((id) => byId.get(id) ?? [])
      const isPartial = search.search !== undefined && listed.length > 0 && offering.length === 0 && named.size === 0
      const shown = found.slice(0, wanted.limit)
      return {
        ids: shown.map(({ id }) => id),
        total: total + offering.length,
        answer: {
          businesses: shown.map(({ business }) => business),
          hasMore: found.length > wanted.limit || isCut,
          ...(wanted.open_now === true ? { openUnknown } : {}),
          ...(mostCents === undefined
            ? isPartial ? { hint: partialHint } : {}
            : { hint: priceHint(mostCents, within.length, offering.length) })
        }
      }
    })

    /** What would find something: a larger circle, other words, the categories that there are. */
    const hintFor = Effect.fn("BusinessSearch.hintFor")(function*({ category, ...search }: Search) {
      if (search.radius_miles !== undefined) {
        return search.radius_miles < farthest
          ? `Nothing is within ${search.radius_miles} miles. Try a larger radius_miles, at most ${farthest}.`
          : `Nothing is within ${farthest} miles. Try another place, or search_businesses.`
      }
      if (category === undefined) {
        const item = search.search === undefined ? "" : " What is offered is found by words that are all in one item."
        return `Nothing matches. Try fewer or other words, a larger place, or no place.${item}`
      }
      const { categories } = yield* directory.facets(search)
      const names = categories.slice(0, 10).map(({ value }) => lineOf(value, 60)).join(", ")
      return names === ""
        ? "Nothing matches, whatever the category. Try fewer or other words, or a larger place."
        : `No match has this category. Without it there are: ${names}.`
    })

    /** Counts an impression of what it answers, as a search of the directory does. */
    const run = Effect.fn("BusinessSearch.run")(function*(search: Search, wanted: Wanted) {
      const { answer, ids, total } = yield* collectAll(search, wanted)
      yield* directory.seen(search, ids, total)
      if (ids.length > 0) return answer
      const isClosed = wanted.open_now === true && (yield* collectAll(search, { limit: 1 })).ids.length > 0
      return {
        ...answer,
        hint: isClosed
          ? "Some match, but none is known to be open now: ask without open_now or those words, and see their hours by " +
            "get_business."
          : yield* hintFor(search)
      } satisfies FoundBusinesses
    })

    /** Whether a listing has all of the words itself, also those that sound like a price: they are its name then. */
    const isName = Effect.fnUntraced(function*(search: Search & { readonly search: string }) {
      const { found } = yield* collect(search, { limit: 1 })
      return (yield* items.named(search.search, found.map(({ id }) => id))).size > 0
    })

    const search = Effect.fn("BusinessSearch.search")(function*(input: typeof SearchBusinesses.Type) {
      const asked = openWanted(input)
      const { category, city, query } = asked
      const filters = {
        ...(city === undefined ? {} : { location: city }),
        ...(category === undefined ? {} : { category })
      }
      if (query === undefined) return yield* run(filters, asked)
      const price = priceLimitOf(query)
      if (price === undefined || (yield* isName({ ...filters, search: query }))) {
        return yield* run({ ...filters, search: query }, asked)
      }
      return yield* run({ ...filters, search: price.words }, { ...asked, mostCents: price.mostCents })
    })

    /** The nearest first. */
    const nearby = Effect.fn("BusinessSearch.nearby")((input: typeof DiscoverNearby.Type) => {
      const { lat, lng, radius_miles } = input
      return run({ lat, lng, radius_miles, sort: "distance" }, input)
    })

    return { search, nearby } as const
  })
}) {}
