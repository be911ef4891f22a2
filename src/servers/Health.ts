import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Whether the database answers, within two seconds in any case: a query that hangs is abandoned, since cancelling it
 * needs the database, too. A recovered database shows at the next call.
 */
export class Health extends Effect.Service<Health>()("servers/Health", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => ({
    database: sql`SELECT 1`.pipe(
      Effect.as("up" as const),
      Effect.disconnect,
      Effect.timeout("1500 millis"),
      Effect.catchAllCause(() => Effect.succeed("down" as const)),
      Effect.interruptible
    )
  }))
}) {}
