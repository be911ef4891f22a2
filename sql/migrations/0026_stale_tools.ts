import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Servers whose tools may have changed since they were last asked for them (docs/decisions/mcp-handshake.md). Without a
 * foreign key: whoever deletes a server and whoever changes its business would lock each other's rows in turn.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE stale_tools (
      server_id text PRIMARY KEY,
      marked_at timestamptz NOT NULL,
      due_at timestamptz NOT NULL,
      tries integer NOT NULL DEFAULT 0
    );
    CREATE INDEX ON stale_tools (due_at);
  `))
