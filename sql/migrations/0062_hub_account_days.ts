import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Reads of composites by who has signed in and holds no hub key, a day (UTC) and account. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql`
    CREATE TABLE hub_account_days (
      user_id text PRIMARY KEY REFERENCES users ON DELETE CASCADE,
      day date NOT NULL,
      day_count integer NOT NULL
    )
  `)
