import { many, one } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

const ServerId = Schema.Struct({ id: Schema.String }).pipe(Schema.pluck("id"))

const Holdings = Schema.Struct({
  /** Of each server. */
  regions: Schema.Array(Schema.String),
  neverStopping: Schema.Int,
  projects: Schema.Int,
  businesses: Schema.Int,
  previewBytes: Schema.NumberFromString,
  documentBytes: Schema.NumberFromString
})
export type Holdings = typeof Holdings.Type

/** What an account has of what its plan limits, images apart (ImageQuota); who owns those tables says in the same words what counts. */
export class HoldingsRepo extends Effect.Service<HoldingsRepo>()("limits/HoldingsRepo", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => ({
    /** Ids of an account's servers on which something is deployed. */
    deployed: many(ServerId)((accountId: string) =>
      sql`SELECT s.id FROM servers s JOIN projects p ON p.id = s.project_id
          WHERE p.account_id = ${accountId} AND s.active_deployment_id IS NOT NULL ORDER BY s.id`
    ),
    of: one(Holdings)((accountId: string, at: Date) =>
      sql`WITH own AS (SELECT id FROM projects WHERE account_id = ${accountId})
          SELECT coalesce((SELECT jsonb_agg(s.region) FROM servers s JOIN own ON own.id = s.project_id), '[]') AS regions,
            (SELECT count(*) FROM servers s JOIN own ON own.id = s.project_id
              WHERE s.auto_stop_seconds IS NULL)::int AS never_stopping,
            (SELECT count(*) FROM own)::int AS projects,
            (SELECT count(*) FROM businesses b JOIN own ON own.id = b.project_id)::int AS businesses,
            (SELECT coalesce(sum(v.bytes), 0) FROM import_previews v JOIN businesses b ON b.id = v.business_id
              JOIN own ON own.id = b.project_id WHERE v.expires_at > ${at})::bigint::text AS preview_bytes,
            (SELECT coalesce(sum(bytes), 0) FROM capability_blobs WHERE account_id = ${accountId})::bigint::text
              AS document_bytes`
    )
  }))
}) {}
