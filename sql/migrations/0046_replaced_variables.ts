import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Values of environment variables that were changed or removed, while a machine may still have them. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE replaced_variables (
      id text PRIMARY KEY,
      server_id text NOT NULL REFERENCES servers ON DELETE CASCADE,
      name text NOT NULL,
      sealed_value text NOT NULL,
      replaced_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX ON replaced_variables (server_id, replaced_at);
  `))
