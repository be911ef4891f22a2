import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** What a request had committed when the program ended before it could answer: its repeat goes on from there. */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql.unsafe("ALTER TABLE idempotency_keys ADD checkpoint text")
)
