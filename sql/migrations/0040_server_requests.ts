import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Requests of each server, by the minute, and by the hour once they are old (docs/decisions/server-metrics.md).
 * `latency` is a bucket of the time that they took (src/usage/latency.ts); the least one is of those that are not timed. Without a foreign key: many rows are written at once, and would lock servers that are being deleted.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE server_requests (
      server_id text NOT NULL,
      is_hour boolean NOT NULL,
      began_at timestamptz NOT NULL,
      latency smallint NOT NULL,
      requests bigint NOT NULL,
      errors bigint NOT NULL,
      micros bigint NOT NULL,
      PRIMARY KEY (server_id, is_hour, began_at, latency)
    );
    CREATE INDEX ON server_requests (is_hour, began_at);
  `))
