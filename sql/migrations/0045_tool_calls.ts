import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Calls of each server's tools, by the minute and later by the hour as in server_requests
 * (docs/decisions/tool-metrics.md): how long they took by tool, and who called by tool and client. An empty name is that
 * of all others. `tool_names` has the names of a server and day that are told apart.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE tool_calls (
      server_id text NOT NULL,
      is_hour boolean NOT NULL,
      began_at timestamptz NOT NULL,
      tool text NOT NULL,
      latency smallint NOT NULL,
      calls bigint NOT NULL,
      errors bigint NOT NULL,
      micros bigint NOT NULL,
      PRIMARY KEY (server_id, is_hour, began_at, tool, latency)
    );
    CREATE INDEX ON tool_calls (is_hour, began_at);
    CREATE TABLE tool_clients (
      server_id text NOT NULL,
      is_hour boolean NOT NULL,
      began_at timestamptz NOT NULL,
      tool text NOT NULL,
      client text NOT NULL,
      calls bigint NOT NULL,
      errors bigint NOT NULL,
      PRIMARY KEY (server_id, is_hour, began_at, tool, client)
    );
    CREATE INDEX ON tool_clients (is_hour, began_at);
    CREATE TABLE tool_names (
      server_id text NOT NULL,
      day date NOT NULL,
      tools text[] NOT NULL,
      clients text[] NOT NULL,
      PRIMARY KEY (server_id, day)
    );
    CREATE INDEX ON tool_names (day);
  `))
