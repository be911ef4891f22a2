import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Whether the database answers within two seconds; a database that comes back is seen at the next call. */
export class Health extends Effect.Service<Health>()("servers/Health", {
  effect: Effect.map(SqlClient.SqlClient, (sql) => ({
    database: sql`SELECT 1`.pipe(
      Effect.as("up" as const),
      Effect.timeout("2 seconds"),
      Effect.catchAllCause(() => Effect.succeed("down" as const)),
      Effect.interruptible
    )
  }))
}) {}
