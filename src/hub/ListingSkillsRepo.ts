import { Hours } from "#src/format/ReadyConfig.ts"
import { ListingTier } from "#src/plans/ListingTier.ts"
import { many, maybe } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { ParsedDocument } from "./CapabilityDoc.ts"
import { SkillServer } from "./skill-tools.ts"

const Row = Schema.Struct({
  id: Schema.String,
  businessSlug: Schema.String,
  name: Schema.String,
  description: Schema.String,
  categories: Schema.Array(Schema.String),
  city: Schema.String,
  state: Schema.String,
  tier: ListingTier,
  verificationTier: Schema.Int,
  healthScore: Schema.Int,
  phone: Schema.String,
  website: Schema.String,
  line1: Schema.String,
  zip: Schema.String,
  hours: Hours,
  catalog: Schema.Array(Schema.Struct({ name: Schema.String, items: Schema.Int })),
  tools: ParsedDocument.fields.tools,
  serverSlug: Schema.NullOr(Schema.String),
  server: Schema.NullOr(SkillServer)
})
export type ListingSkillRow = typeof Row.Type

/** At most so many categories of a catalog are named. */
const mostCategories = 40
/** And of the tools in its capability document. */
const mostTools = 40

/** Active listings with what their SKILL.md is made of. */
export class ListingSkillsRepo extends Effect.Service<ListingSkillsRepo>()("hub/ListingSkillsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const columns = sql`l.id, l.business_slug, l.name, l.description, l.categories, l.city, l.state, l.tier,
      l.verification_tier, l.health_score, b.phone, b.website, b.line1, b.zip, b.hours, s.slug AS server_slug,
      (SELECT coalesce(json_agg(c ORDER BY c.place), '[]') FROM (
        SELECT c.name, c.sort_order AS place,
          (SELECT count(*)::int FROM catalog_items i WHERE i.category_id = c.id) AS items
        FROM catalog_categories c WHERE c.business_id = b.id ORDER BY c.sort_order LIMIT ${mostCategories}
      ) c) AS catalog,
      coalesce(jsonb_path_query_array(doc.tools, ${`$[0 to ${mostTools - 1}]`}::jsonpath), '[]') AS tools,
      CASE WHEN s.id IS NOT NULL THEN json_build_object(
        'authMode', s.auth_mode, 'access', s.access, 'transport', h.transport,
        'tools', CASE WHEN s.access = 'public' THEN coalesce(h.tools, '[]') ELSE '[]' END
      ) END AS server`
    const linked = sql`JOIN businesses b ON b.id = l.business_id LEFT JOIN servers s ON s.id = b.server_id
      LEFT JOIN deployment_handshakes h ON h.deployment_id = s.active_deployment_id
      LEFT JOIN capability_documents doc ON doc.listing_id = l.id`

    return {
      find: maybe(Row)((id: string) =>
        sql`SELECT ${columns} FROM listings l ${linked} WHERE l.id = ${id} AND l.status = 'active'`
      ),
      findBySlug: maybe(Row)((slug: string) =>
        sql`SELECT ${columns} FROM listings l ${linked} WHERE b.slug = ${slug} AND l.status = 'active'`
      ),
      /** Those that the directory lists first. */
      best: many(Row)((count: number) =>
        sql`SELECT ${columns} FROM (
              SELECT listing_id, rank, number FROM directory_entries ORDER BY rank, number LIMIT ${count}
            ) e JOIN listings l ON l.id = e.listing_id ${linked}
            WHERE l.status = 'active' ORDER BY e.rank, e.number`
      )
    } as const
  })
}) {}
