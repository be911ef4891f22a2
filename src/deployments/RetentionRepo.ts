import { PlanName } from "#src/billing/Plan.ts"
import { dieOnSql } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"

const Version = Schema.Struct({
  serverId: Schema.String,
  version: Schema.Int,
  active: Schema.Boolean,
  ran: Schema.Boolean,
  inFlight: Schema.Boolean,
  imageDigest: Schema.String,
  plan: PlanName,
  deploymentRetentionCount: Schema.Int
})

export class RetentionRepo extends Effect.Service<RetentionRepo>()("deployments/RetentionRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const versions = SqlSchema.findAll({
      Request: Schema.Void,
      Result: Version,
      execute: () =>
        sql`SELECT d.server_id, d.version, d.active, d.deployed_at IS NOT NULL AS ran,
              d.status IN ('pending', 'building') AS in_flight, d.image_digest, u.plan, s.deployment_retention_count
            FROM deployments d JOIN servers s ON s.id = d.server_id JOIN projects p ON p.id = s.project_id
            JOIN users u ON u.id = p.account_id WHERE d.image_digest IS NOT NULL`
    })

    return {
      /** Every version that has an image. */
      versions: dieOnSql(versions())
    } as const
  })
}) {}
