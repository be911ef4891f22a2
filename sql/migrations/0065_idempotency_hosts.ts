import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** The host whose process runs a request, by the session of its lease: when that is gone, nobody runs it any more. */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql.unsafe("ALTER TABLE idempotency_keys ADD host_session text")
)
