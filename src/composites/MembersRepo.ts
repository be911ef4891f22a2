import { ListingTier } from "#src/listings/Listing.ts"
import { many, one } from "#src/shared/sql.ts"
import { SqlClient, type Statement } from "@effect/sql"
import { Effect, Schema } from "effect"
import { CompositeSummary } from "./Member.ts"
import { leastHealth, type QueryDefinition } from "./QueryDefinition.ts"

const Row = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  businessSlug: Schema.String,
  tier: ListingTier,
  verificationTier: Schema.Int,
  healthScore: Schema.Int,
  serverSlug: Schema.NullOr(Schema.String),
  transport: Schema.NullOr(Schema.Literal("streamable-http", "sse")),
  hasDocument: Schema.Boolean,
  tools: Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String }))
})
export type MemberRow = typeof Row.Type

/** At most so many tools of a member are listed. */
const mostTools = 40

/** The listings that satisfy a definition, as they are at this moment. */
export class MembersRepo extends Effect.Service<MembersRepo>()("composites/MembersRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const anywhere = (text: string) => `%${text.replace(/[\\%_]/g, "\\$&")}%`

    const conditionsOf = (definition: QueryDefinition): ReadonlyArray<Statement.Fragment> => {
      const { category, city, health_score_min, lat, listing_ids, listing_tier, lng, radius_miles } = definition
      const { search, state, tags, verification_tier_min, vertical } = definition
      return [
        sql`l.status = 'active' AND l.health_score >= ${Math.max(leastHealth, health_score_min ?? 0)}`,
        ...(listing_ids === undefined ? [] : [sql`l.id = ANY(${listing_ids}::text[])`]),
        ...(vertical === undefined ? [] : [sql`composite_key(l.industry) = composite_key(${vertical})`]),
        ...(category === undefined ? [] : [sql`l.categories @> ARRAY[${category}]`]),
        ...(tags === undefined ? [] : [sql`l.tags @> ${tags}::text[]`]),
        ...(city === undefined ? [] : [sql`composite_key(l.city) = composite_key(${city})`]),
        ...(state === undefined ? [] : [sql`composite_state(l.state) = composite_state(${state})`]),
        ...(search === undefined ? [] : [sql`l.name ILIKE ${anywhere(search)}`]),
        ...(lat === undefined || lng === undefined || radius_miles === undefined ? [] : [
          sql`2 * 3958.8 * asin(least(1, sqrt(power(sin(radians(l.latitude - ${lat}) / 2), 2) +
            cos(radians(l.latitude)) * cos(radians(${lat}::float8)) * power(sin(radians(l.longitude - ${lng}) / 2), 2))))
            <= ${radius_miles}`
        ]),
        ...(verification_tier_min === undefined ? [] : [sql`l.verification_tier >= ${verification_tier_min}`]),
        ...(listing_tier === undefined ? [] : [sql`l.tier = ${listing_tier}`])
      ]
    }

    const bestOf = (definition: QueryDefinition, count: number | undefined) =>
      sql`SELECT l.id, l.verification_tier, l.health_score FROM listings l WHERE ${sql.and(conditionsOf(definition))}
        ORDER BY l.verification_tier * l.health_score *
          CASE l.tier WHEN 'premium' THEN 3 WHEN 'featured' THEN 2 ELSE 1 END DESC, l.id
        LIMIT ${count ?? null}`

    return {
      best: many(Row)((definition: QueryDefinition, count: number) =>
        sql`SELECT l.id, l.name, l.business_slug, l.tier, l.verification_tier, l.health_score, s.slug AS server_slug,
            h.transport, doc.listing_id IS NOT NULL AS has_document,
            coalesce(jsonb_path_query_array(
              CASE WHEN s.access = 'public' AND jsonb_array_length(h.tools) > 0 THEN h.tools ELSE doc.tools END,
              ${`$[0 to ${mostTools - 1}]`}::jsonpath), '[]') AS tools
          FROM (${bestOf(definition, count)}) best JOIN listings l ON l.id = best.id
          JOIN businesses b ON b.id = l.business_id LEFT JOIN servers s ON s.id = b.server_id
          LEFT JOIN deployment_handshakes h ON h.deployment_id = s.active_deployment_id
          LEFT JOIN capability_documents doc ON doc.listing_id = l.id
          ORDER BY l.verification_tier * l.health_score *
            CASE l.tier WHEN 'premium' THEN 3 WHEN 'featured' THEN 2 ELSE 1 END DESC, l.id`
      ),
      summary: one(CompositeSummary)((definition: QueryDefinition) =>
        sql`SELECT coalesce(min(verification_tier), 0)::int AS "compositeTrust",
            coalesce(round(avg(health_score), 2), 0)::float8 AS "avgHealthScore", count(*)::int AS "memberCount"
          FROM (${bestOf(definition, definition.limit)}) best`
      )
    } as const
  })
}) {}
