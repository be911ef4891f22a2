import { McpFeatures } from "#src/servers/McpFeatures.ts"
import { many } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

const StoredFeatures = Schema.Struct({ listingId: Schema.String, features: McpFeatures })

/** What is stored of the servers of members. Nobody is asked for it. */
export class OfferingsRepo extends Effect.Service<OfferingsRepo>()("composites/OfferingsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const linked = sql`listings l JOIN businesses b ON b.id = l.business_id JOIN servers s ON s.id = b.server_id
      LEFT JOIN deployment_handshakes h ON h.deployment_id = s.active_deployment_id`
    return {
      features: many(StoredFeatures)((listingIds: ReadonlyArray<string>) =>
        sql`SELECT l.id AS listing_id, h.features FROM ${linked}
            WHERE l.id = ANY(${[...listingIds]}::text[]) AND h.ok AND h.features IS NOT NULL`
      )
    } as const
  })
}) {}
