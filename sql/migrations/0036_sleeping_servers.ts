import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Servers that sleep when nobody uses them, and wake by a request (docs/decisions/sleeping-servers.md). `asleep_at` is
 * set while a server is stopped for idleness; one that was stopped by hand has none. `server_use` is what each gateway
 * tells of its requests, `gateways` which of them are alive. Without foreign keys: many rows are written at once, and
 * would lock servers that are being deleted.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE servers
      ADD COLUMN asleep_at timestamptz,
      ADD COLUMN running_since timestamptz NOT NULL DEFAULT now(),
      ADD COLUMN wake_failures integer NOT NULL DEFAULT 0,
      ADD COLUMN wake_problem text,
      ADD COLUMN wake_retry_at timestamptz,
      ADD CONSTRAINT servers_asleep_check CHECK (asleep_at IS NULL OR status = 'stopped');
    CREATE INDEX servers_asleep ON servers (id) WHERE asleep_at IS NOT NULL;

    CREATE TABLE gateways (
      id text PRIMARY KEY,
      seen_at timestamptz NOT NULL
    );
    CREATE TABLE server_use (
      server_id text NOT NULL,
      gateway text NOT NULL,
      open integer NOT NULL DEFAULT 0,
      used_at timestamptz NOT NULL,
      PRIMARY KEY (server_id, gateway)
    );
    CREATE INDEX ON server_use (used_at);
  `))
