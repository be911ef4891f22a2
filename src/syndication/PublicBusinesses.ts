import { Events } from "#src/analytics/Events.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { wayTo } from "#src/directory/way-to.ts"
import { hoursOf } from "#src/format/hours-lines.ts"
import { lineOf } from "#src/format/markdown-text.ts"
import { ListingNotFound } from "#src/listings/Listing.ts"
import { levelOfTier } from "#src/listings/VerificationLevel.ts"
import { isLabel } from "#src/shared/dns-label.ts"
import { Clock, Effect, Option } from "effect"
import { sectionsOf, withoutTypes } from "./menu.ts"
import { openingNow } from "./opening.ts"
import {
  type BusinessDetail,
  type BySlug,
  type BySlugs,
  type Menus,
  NoOrderLink,
  NoSuchBusiness,
  type OrderLink
} from "./PublicBusiness.ts"
import { type BusinessRow, PublicBusinessesRepo } from "./PublicBusinessesRepo.ts"
import { urlsOf } from "./urls.ts"

/** So many items in one answer of `menus`, shared by the businesses that it names. */
const mostItems = 200
/** A page for people shows so many. */
const mostOnPage = 500

/** Single businesses of the directory for everybody: for agents without a login, and on a page for people. */
export class PublicBusinesses extends Effect.Service<PublicBusinesses>()("syndication/PublicBusinesses", {
  effect: Effect.gen(function*() {
    const repo = yield* PublicBusinessesRepo
    const events = yield* Events
    const settings = yield* CurrentSettings
    const urls = urlsOf(settings)

    const detail = (row: BusinessRow, now: number): BusinessDetail => ({
      slug: row.slug,
      name: lineOf(row.name, 255),
      description: lineOf(row.description, 2_000),
      categories: row.categories.slice(0, 20).map((category) => lineOf(category, 255)),
      city: row.city,
      state: row.state,
      verificationLevel: levelOfTier(row.verificationTier),
      phone: row.phone,
      website: row.website,
      address: { line1: row.line1, city: row.city, state: row.state, zip: row.zip, country: row.country },
      hours: hoursOf(row.hours),
      ...openingNow(row, now),
      menuItems: row.menuItems,
      mcpServerUrl: urls.mcp(row.serverSlug),
      skillUrl: urls.skill(row.id),
      pageUrl: urls.page(row.slug)
    })

    const find = (slug: string) => isLabel(slug) ? repo.find(slug) : Effect.succeedNone

    /** A business that agents without a login may know of. */
    const forAgents = Effect.fn("PublicBusinesses.forAgents")(function*(slug: string) {
      const row = Option.filter(yield* find(slug), ({ agentAccess }) => agentAccess)
      return Option.isSome(row) ? row.value : yield* new NoSuchBusiness({ slug })
    })

    /** Counts as a view, as the detail read of the directory does. */
    const get = Effect.fn("PublicBusinesses.get")(function*({ slug }: typeof BySlug.Type) {
      const row = yield* forAgents(slug)
      yield* events.record("view", [row.id])
      return detail(row, yield* Clock.currentTimeMillis)
    })

    /** Counts as a click on each: like its SKILL.md, it is read to use the business. */
    const menus = Effect.fn("PublicBusinesses.menus")(function*({ slugs }: typeof BySlugs.Type) {
      const asked = [...new Set(slugs)]
      const each = Math.floor(mostItems / asked.length)
      const rows = (yield* repo.menus(asked.filter(isLabel), each)).filter(({ agentAccess }) => agentAccess)
      yield* events.record("click", rows.map(({ id }) => id))
      const menuOf = (slug: string): Menus["menus"][number] => {
        const row = rows.find((row) => row.slug === slug)
        if (row === undefined) {
          return { slug, status: "not_found", name: "", sections: [], omittedItems: 0, pageUrl: "" }
        }
        const { items, name, total } = row
        return {
          slug,
          status: total === 0 ? "no_menu" : "ok",
          name: lineOf(name, 255),
          sections: withoutTypes(sectionsOf(items, 140)),
          omittedItems: Math.max(0, total - items.length),
          pageUrl: urls.page(slug)
        }
      }
      return { menus: asked.map(menuOf) }
    })

    /** Counts as a referral. */
    const orderLink = Effect.fn("PublicBusinesses.orderLink")(function*({ slug }: typeof BySlug.Type) {
      const row = yield* forAgents(slug)
      const { id, name, website } = row
      const url = wayTo(settings, row)
      if (url === undefined) return yield* new NoOrderLink({ slug })
      yield* events.refer(id)
      return {
        slug,
        name: lineOf(name, 255),
        url,
        kind: url === website ? "website" : "mcp_server"
      } satisfies OrderLink
    })

    /** What the page of a listing shows, also of one that left the agents' door. `isView`: counts as one. */
    const page = Effect.fn("PublicBusinesses.page")(function*(slug: string, isView: boolean) {
      const row = yield* find(slug)
      if (Option.isNone(row)) return yield* new ListingNotFound()
      const [menu] = yield* repo.menus([slug], mostOnPage)
      if (isView) yield* events.record("view", [row.value.id])
      const { featuredImageUrl, hours, id, isPlaceApproximate, latitude, longitude, templateType, updatedAt } =
        row.value
      return {
        // The page is kept for a while: what holds now is no part of it.
        ...detail(row.value, yield* Clock.currentTimeMillis),
        id,
        templateType,
        featuredImageUrl,
        openingHours: hours,
        coordinates: isPlaceApproximate || latitude === null || longitude === null ? null : { latitude, longitude },
        referralUrl: urls.referral(id),
        sections: sectionsOf(menu?.items ?? [], 500),
        omittedItems: Math.max(0, row.value.menuItems - (menu?.items.length ?? 0)),
        updatedAt
      }
    })

    return { get, menus, orderLink, page } as const
  })
}) {}

export type ListingPage = Effect.Effect.Success<ReturnType<PublicBusinesses["page"]>>
