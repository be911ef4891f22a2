import { ListingTier } from "#src/plans/ListingTier.ts"
import { type SqlClient, type Statement } from "@effect/sql"
import { Schema } from "effect"

/** At most so many tools of a member are listed. */
const mostTools = 40

export const MemberRow = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  businessSlug: Schema.String,
  industry: Schema.String,
  city: Schema.String,
  state: Schema.String,
  tier: ListingTier,
  verificationTier: Schema.Number,
  healthScore: Schema.Number,
  serverSlug: Schema.NullOr(Schema.String),
  transport: Schema.NullOr(Schema.Literal("streamable-http", "sse")),
  hasDocument: Schema.Boolean,
  tools: Schema.Array(Schema.Struct({ name: Schema.String, description: Schema.String })),
  /** With those that are not listed. */
  toolCount: Schema.Number
})
export type MemberRow = typeof MemberRow.Type

/**
 * A statement of one JSON array: the members of a statement of `number` and `score`, best first. The tools of a server
 * that does not let in everybody are for those it lets in.
 */
export const memberJson = (sql: SqlClient.SqlClient, best: Statement.Fragment) => {
  const tools = sql`CASE WHEN s.access = 'public' AND jsonb_array_length(h.tools) > 0 THEN h.tools ELSE doc.tools END`
  return sql`SELECT coalesce(json_agg(json_build_object('id', l.id, 'name', l.name, 'businessSlug', l.business_slug,
      'industry', l.industry, 'city', l.city, 'state', l.state, 'tier', l.tier, 'verificationTier', l.verification_tier,
      'healthScore', l.health_score, 'serverSlug', s.slug, 'transport', h.transport,
      'hasDocument', doc.listing_id IS NOT NULL, 'tools', coalesce(jsonb_path_query_array(
        ${tools}, ${`$[0 to ${
    mostTools - 1
  }]`}::jsonpath), '[]'), 'toolCount', coalesce(jsonb_array_length(${tools}), 0)
    ) ORDER BY best.score DESC, best.number), '[]')
    FROM (${best}) best JOIN listings l ON l.number = best.number JOIN businesses b ON b.id = l.business_id
    LEFT JOIN servers s ON s.id = b.server_id LEFT JOIN deployment_handshakes h ON h.deployment_id = s.active_deployment_id
    LEFT JOIN capability_documents doc ON doc.listing_id = l.id`
}
