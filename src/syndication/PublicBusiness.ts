import { VerificationLevel } from "#src/listings/VerificationLevel.ts"
import { isLabel } from "#src/shared/dns-label.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { LimitArgument } from "#src/shared/paging.ts"
import { Input, optional, Text } from "#src/shared/text.ts"
import { Schema } from "effect"

const described = (description: string) => ({ description })

const mostFound = 20
const mostMenus = 10
/** The largest radius, in miles. */
export const farthest = 100

const Slug = Text(63).annotations(described("The slug of a business, as search_businesses answers it"))
const OpenNow = Schema.Boolean.annotations(described("true: only businesses that are known to be open at this moment"))
const Limit = LimitArgument(mostFound, 10)

/** A number between two, with its bounds inline: not every client follows `$ref`. */
const between = (minimum: number, maximum: number, description: string) =>
  Schema.Number.pipe(
    Schema.between(minimum, maximum, { message: () => `must be from ${minimum} to ${maximum}` }),
    Schema.annotations({ jsonSchema: { type: "number", minimum, maximum, description } })
  )

export const SearchBusinesses = Input({
  query: optional(
    Text(200).annotations(
      described(
        "What the person asked for: words of the name, the place, the kind, or of one item, also with its price or \"open " +
          "now\": `gluten-free pizza in Denver under $15`"
      )
    )
  ),
  city: optional(Text(255).annotations(described("`Denver`, `Denver, CO`, a state, or a zip code"))),
  category: optional(Text(255).annotations(described("A category exactly as the directory has it: `Restaurant`"))),
  open_now: optional(OpenNow),
  limit: Limit
})

export const DiscoverNearby = Input({
  lat: between(-90, 90, "Latitude in degrees"),
  lng: between(-180, 180, "Longitude in degrees"),
  radius_miles: between(0, farthest, `How far around, in miles: at most ${farthest}`),
  open_now: optional(OpenNow),
  limit: Limit
})

export const BySlug = Input({ slug: Slug })

export const BySlugs = Input({
  slugs: Schema.Array(Slug).annotations({ parseOptions: { errors: "first" } }).pipe(
    Schema.filter(
      ({ length }) =>
        length >= 1 && length <= mostMenus || `must name 1 to ${mostMenus} businesses; ask again for further ones`,
      { jsonSchema: { minItems: 1, maxItems: mostMenus } }
    )
  )
})

const Known = Schema.NullOr(Schema.Boolean)

/** A business in a list. Its texts are its own words. */
export const FoundBusiness = Schema.Struct({
  slug: Schema.String,
  name: Schema.String,
  about: Schema.String.annotations(described("The beginning of what the business says of itself")),
  categories: Schema.Array(Schema.String),
  city: Schema.String,
  state: Schema.String,
  verificationLevel: VerificationLevel,
  isOpenNow: Known.annotations(described("null: its hours or its time zone are not known")),
  distanceMiles: optional(Schema.Number),
  matchedItem: optional(
    Schema.Struct({
      name: Schema.String,
      price: Schema.String,
      furtherItems: optional(Schema.Int).annotations(described("How many more match as well: get_menus names them"))
    })
  ).annotations(described("The cheapest of the items that match best")),
  pageUrl: Schema.String.annotations(described("A page for people"))
})
export type FoundBusiness = typeof FoundBusiness.Type

export const FoundBusinesses = Schema.Struct({
  businesses: Schema.Array(FoundBusiness),
  hasMore: Schema.Boolean.annotations(described("There are further ones: narrow the search to see them")),
  openUnknown: optional(Schema.Int).annotations(
    described("With open_now: how many that match were left out because it is not known whether they are open")
  ),
  hint: optional(Schema.String).annotations(
    described(
      "What to try when nothing was found, that nothing has all of the words, or what a price did"
    )
  )
})
export type FoundBusinesses = typeof FoundBusinesses.Type

const Line = Schema.Struct({ day: Schema.String, hours: Schema.String })

/** One business in full, but for its menu. */
export const BusinessDetail = Schema.Struct({
  ...FoundBusiness.omit("about", "distanceMiles", "matchedItem").fields,
  description: Schema.String,
  phone: Schema.String,
  website: Schema.String,
  address: Schema.Struct({
    line1: Schema.String,
    city: Schema.String,
    state: Schema.String,
    zip: Schema.String,
    country: Schema.String
  }),
  hours: Schema.Array(Line).annotations(described("On the business's own clock; empty when not stated")),
  timeZone: Schema.NullOr(Schema.String).annotations(
    described("IANA name, told from its coordinates, zip code or state; null when these do not tell")
  ),
  closesAt: Schema.NullOr(Schema.String).annotations(described("Local time, while it is open")),
  opensAt: Schema.NullOr(Schema.String).annotations(described("Local time of the next opening")),
  menuItems: Schema.Int.annotations(described("What get_menus can tell of")),
  mcpServerUrl: Schema.String.annotations(described("The business's own MCP server; empty when it has none")),
  skillUrl: Schema.String.annotations(described("SKILL.md: how an agent uses the business"))
})
export type BusinessDetail = typeof BusinessDetail.Type

const MenuItem = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  price: Schema.String.annotations(described("As it is said: `$8.99`, `from $20.00`, `price on request`")),
  priceCents: Schema.NullOr(Schema.Int).annotations(described("US cents; null when no price is stated"))
})

export const MenuSection = Schema.Struct({ name: Schema.String, items: Schema.Array(MenuItem) })
export type MenuSection = typeof MenuSection.Type

export const Menus = Schema.Struct({
  menus: Schema.Array(Schema.Struct({
    slug: Schema.String,
    status: Schema.Literal("ok", "no_menu", "not_found"),
    name: Schema.String,
    sections: Schema.Array(MenuSection),
    omittedItems: Schema.Int.annotations(described("Further items: ask for fewer businesses, or see pageUrl")),
    pageUrl: Schema.String
  }))
})
export type Menus = typeof Menus.Type

export const OrderLink = Schema.Struct({
  slug: Schema.String,
  name: Schema.String,
  url: Schema.String.annotations(described("Give it to the person as it is; it is counted as a referral")),
  kind: Schema.Literal("website", "mcp_server").annotations(
    described("mcp_server: the business has no website; an MCP client can connect to the URL")
  )
})
export type OrderLink = typeof OrderLink.Type

export class NoSuchBusiness
  extends Schema.TaggedError<NoSuchBusiness>()("NoSuchBusiness", { slug: Schema.String }, failsWith(404))
{
  override get message() {
    const named = isLabel(this.slug) ? `No business with the slug ${this.slug} is here` : "slug: that is no slug"
    return `${named}; search_businesses and discover_nearby answer the slugs of those that are`
  }
}

export class NoOrderLink
  extends Schema.TaggedError<NoOrderLink>()("NoOrderLink", { slug: Schema.String }, failsWith(404))
{
  override get message() {
    return `${this.slug} has neither a website nor an MCP server; get_business tells its phone and address`
  }
}
