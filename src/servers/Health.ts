import { version } from "#src/config/version.ts"
import { now } from "#src/shared/now.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

const database = (sql: SqlClient.SqlClient) =>
  sql`SELECT 1`.pipe(
    Effect.as("up" as const),
    Effect.disconnect,
    Effect.timeout("1500 millis"),
    Effect.catchAllCause(() => Effect.succeed("down" as const)),
    Effect.interruptible
  )

/**
 * Whether the database answers, within two seconds in any case: a query that hangs is abandoned, since cancelling it
 * needs the database, too. A recovered database shows at the next call.
 */
export class Health extends Effect.Service<Health>()("servers/Health", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => ({
    /** Contract: `GET /v1/health`. */
    report: Effect.zipWith(database(sql), now, (database, at) => ({
      status: database === "up" ? "ok" as const : "degraded" as const,
      version,
      timestamp: at.toISOString(),
      services: { database }
    }))
  }))
}) {}
