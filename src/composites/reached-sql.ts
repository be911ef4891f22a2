import { AccountId } from "#src/accounts/CurrentActor.ts"
import { compositesClientId } from "#src/oauth/Grant.ts"
import { MemberStanding, standingColumns, standingOf } from "#src/oauth/member-standing.ts"
import { type SqlClient, type Statement } from "@effect/sql"
import { Schema } from "effect"
import { CompositeVisibility } from "./Composite.ts"

const MemberServer = Schema.Struct({
  serverId: Schema.String,
  serverSlug: Schema.String,
  status: Schema.Literal("provisioning", "running", "stopped", "error"),
  /** Stopped for idleness: a call wakes it. */
  asleep: Schema.Boolean,
  ...MemberStanding.fields,
  /** As its owner set it; null: when everybody may use the server. */
  composable: Schema.NullOr(Schema.Boolean),
  transport: Schema.NullOr(Schema.Literal("streamable-http", "sse")),
  revision: Schema.NullOr(Schema.String),
  /** The deployment whose tools are stored, and when it was asked; null: they are not known. */
  listedBy: Schema.NullOr(Schema.String)
})
export type MemberServer = typeof MemberServer.Type

const ReachedMember = Schema.Struct({
  listingId: Schema.String,
  slug: Schema.String,
  name: Schema.String,
  server: Schema.NullOr(MemberServer)
})
export type ReachedMember = typeof ReachedMember.Type

/** A composite and its members, as who calls it needs them. */
export const ReachedComposite = Schema.Struct({
  id: Schema.String,
  userId: Schema.NullOr(AccountId),
  visibility: CompositeVisibility,
  name: Schema.String,
  description: Schema.String,
  /** The definition as JSON: the members are those of another one if it has changed. */
  definition: Schema.String,
  members: Schema.Array(ReachedMember)
})
export type ReachedComposite = typeof ReachedComposite.Type

/**
 * A statement of one JSON array: the members of a statement of `number` and `score`, best first, with their servers as
 * the account may use them.
 */
export const reachedJson = (sql: SqlClient.SqlClient, best: Statement.Fragment, accountId: string) =>
  sql`SELECT coalesce(json_agg(json_build_object('listingId', l.id, 'slug', l.business_slug, 'name', l.name, 'server',
      CASE WHEN s.id IS NOT NULL THEN jsonb_build_object('serverId', s.id, 'serverSlug', s.slug, 'status', s.status,
        'asleep', s.asleep_at IS NOT NULL,
        'composable', l.composable, 'transport', h.transport, 'revision', h.revision, 'listedBy',
        CASE WHEN h.ok AND h.features IS NOT NULL THEN h.deployment_id || ' ' || h.tried_at END)
        || to_jsonb(standing) END
    ) ORDER BY best.score DESC, best.number), '[]')
    FROM (${best}) best JOIN listings l ON l.number = best.number JOIN businesses b ON b.id = l.business_id
    LEFT JOIN servers s ON s.id = b.server_id LEFT JOIN deployment_handshakes h ON h.deployment_id = s.active_deployment_id
    LEFT JOIN LATERAL (SELECT ${standingColumns(sql)} ${
    standingOf(sql, accountId, compositesClientId)
  }) standing ON true`
