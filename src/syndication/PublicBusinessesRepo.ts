import { Hours, PriceType, TemplateType } from "#src/format/ReadyConfig.ts"
import { many, maybe } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

const placeFields = {
  state: Schema.String,
  country: Schema.String,
  latitude: Schema.NullOr(Schema.Number),
  longitude: Schema.NullOr(Schema.Number),
  hours: Hours
}

/** When listings are open, and whether agents without a login find them. */
const Standing = Schema.Struct({ id: Schema.String, agentAccess: Schema.Boolean, ...placeFields })
export type Standing = typeof Standing.Type

const Business = Schema.Struct({
  ...Standing.fields,
  businessId: Schema.String,
  slug: Schema.String,
  name: Schema.String,
  description: Schema.String,
  categories: Schema.Array(Schema.String),
  templateType: TemplateType,
  city: Schema.String,
  isPlaceApproximate: Schema.Boolean,
  verificationTier: Schema.Int,
  featuredImageUrl: Schema.String,
  phone: Schema.String,
  website: Schema.String,
  line1: Schema.String,
  zip: Schema.String,
  menuItems: Schema.Int,
  serverSlug: Schema.NullOr(Schema.String),
  updatedAt: Schema.DateFromSelf
})
export type BusinessRow = typeof Business.Type

const Item = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  priceCents: Schema.NullOr(Schema.Int),
  priceType: PriceType,
  category: Schema.NullOr(Schema.String)
})

const Menu = Schema.Struct({
  slug: Schema.String,
  id: Schema.String,
  name: Schema.String,
  agentAccess: Schema.Boolean,
  total: Schema.Int,
  items: Schema.Array(Item)
})
export type MenuRow = typeof Menu.Type

/** Shown listings with what the public may know of their business. */
export class PublicBusinessesRepo extends Effect.Service<PublicBusinessesRepo>()("syndication/PublicBusinessesRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const standing = sql`l.id, l.agent_access, l.state, l.latitude, l.longitude, b.country, b.hours`
    const listed = sql`FROM listings l JOIN businesses b ON b.id = l.business_id AND l.status = 'active'`
    const available = sql`SELECT count(*)::int FROM catalog_items i WHERE i.business_id = b.id AND i.is_available`

    return {
      standings: many(Standing)((ids: ReadonlyArray<string>) =>
        sql`SELECT ${standing} ${listed} WHERE l.id = ANY(${ids}::text[])`
      ),
      find: maybe(Business)((slug: string) =>
        sql`SELECT ${standing}, l.business_id, b.slug, l.name, l.description, l.categories, l.template_type, l.city,
              l.is_place_approximate, l.verification_tier, l.featured_image_url, b.phone, b.website, b.line1, b.zip,
              l.updated_at, s.slug AS server_slug, (${available}) AS menu_items
            ${listed} LEFT JOIN servers s ON s.id = b.server_id WHERE b.slug = ${slug}`
      ),
      /** The first `count` items of each that are available, in the order of the catalog. */
      menus: many(Menu)((slugs: ReadonlyArray<string>, count: number) =>
        sql`SELECT b.slug, l.id, l.name, l.agent_access, (${available}) AS total,
              (SELECT coalesce(json_agg(json_build_object('name', m.name, 'description', left(m.description, 1000),
                  'priceCents', m.price_cents, 'priceType', m.price_type, 'category', m.category)
                  ORDER BY m.section, m.place, m.id), '[]')
                FROM (
                  SELECT i.*, c.name AS category, coalesce(c.sort_order, 2147483647) AS section, i.sort_order AS place
                  FROM catalog_items i LEFT JOIN catalog_categories c ON c.id = i.category_id
                  WHERE i.business_id = b.id AND i.is_available
                  ORDER BY coalesce(c.sort_order, 2147483647), i.sort_order, i.id LIMIT ${count}
                ) m) AS items
            ${listed} WHERE b.slug = ANY(${slugs}::text[])`
      )
    } as const
  })
}) {}
