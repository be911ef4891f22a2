import { many } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

const Target = Schema.Struct({
  serverId: Schema.String,
  generation: Schema.Int,
  /** The deployment whose machine serves. */
  machine: Schema.String,
  port: Schema.Int,
  path: Schema.String,
  /** MCP passed in place of the health path (docs/decisions/health-gate.md). */
  notFoundIsAlive: Schema.Boolean
})
export type Target = typeof Target.Type

export class HealthProbesRepo extends Effect.Service<HealthProbesRepo>()("deployments/HealthProbesRepo", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => ({
    /**
     * Servers that speak for a business and run, unless they were probed within these seconds. Those that waited longest
     * come first, in case the time does not suffice for all.
     */
    due: many(Target)((seconds: number) =>
      sql`SELECT s.id AS server_id, s.generation, d.id AS machine, d.port, coalesce(h.path, s.health_path) AS path,
            d.admitted_by IS NOT DISTINCT FROM 'mcp' AS not_found_is_alive
          FROM businesses b JOIN servers s ON s.id = b.server_id
          JOIN deployments d ON d.id = s.active_deployment_id AND d.active
          LEFT JOIN server_health h ON h.server_id = s.id
          WHERE s.status = 'running'
            AND (h.probed_at IS NULL OR h.probed_at <= now() - ${seconds} * interval '1 second')
          ORDER BY h.probed_at NULLS FIRST, s.id`
    )
  } as const))
}) {}
