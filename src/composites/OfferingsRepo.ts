import { prepared } from "#src/format/prepared.ts"
import { McpFeatures } from "#src/servers/McpFeatures.ts"
import { many } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

const MemberServer = Schema.Struct({
  listingId: Schema.String,
  serverId: Schema.String,
  serverSlug: Schema.String,
  authMode: Schema.Literal("service_managed", "byoa"),
  access: Schema.Literal("public", "owner", "list"),
  /** As its owner set it; null: when everybody may use the server. */
  composable: Schema.NullOr(Schema.Boolean),
  transport: Schema.NullOr(Schema.Literal("streamable-http", "sse")),
  revision: Schema.NullOr(Schema.String),
  /** The deployment whose tools are stored, and when it was asked; null: they are not known. */
  listedBy: Schema.NullOr(Schema.String)
})
export type MemberServer = typeof MemberServer.Type

const StoredFeatures = Schema.Struct({ listingId: Schema.String, features: McpFeatures })

/** What is stored of the servers of members. Nobody is asked for it. */
export class OfferingsRepo extends Effect.Service<OfferingsRepo>()("composites/OfferingsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const linked = sql`listings l JOIN businesses b ON b.id = l.business_id JOIN servers s ON s.id = b.server_id
      LEFT JOIN deployment_handshakes h ON h.deployment_id = s.active_deployment_id`
    return {
      /** Members without a server are left out. */
      servers: many(MemberServer)((listingIds: ReadonlyArray<string>) =>
        sql`${sql.literal(prepared)}
            SELECT l.id AS listing_id, s.id AS server_id, s.slug AS server_slug, s.auth_mode, s.access, l.composable,
              h.transport, h.revision,
              CASE WHEN h.ok AND h.features IS NOT NULL THEN h.deployment_id || ' ' || h.tried_at END AS listed_by
            FROM ${linked} WHERE l.id = ANY(${[...listingIds]}::text[])`
      ),
      features: many(StoredFeatures)((listingIds: ReadonlyArray<string>) =>
        sql`SELECT l.id AS listing_id, h.features FROM ${linked}
            WHERE l.id = ANY(${[...listingIds]}::text[]) AND h.ok AND h.features IS NOT NULL`
      )
    } as const
  })
}) {}
