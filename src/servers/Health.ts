import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Whether the database answers, in less than two seconds whatever it does: a question that hangs is left to itself, for
 * to call it off takes the database too. One that comes back is seen at the next call.
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
