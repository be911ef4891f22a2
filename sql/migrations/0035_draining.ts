import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * The machine of a replaced deployment stays until `drains_until` at the latest, for what is open there. `mcp_sessions`
 * counts the sessions that a deployment's machine has handed out, and those that clients have closed
 * (docs/decisions/swap-and-drain.md).
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE deployments ADD COLUMN drains_until timestamptz;
    CREATE INDEX deployments_draining ON deployments (server_id) WHERE drains_until IS NOT NULL;

    CREATE TABLE mcp_sessions (
      deployment_id text PRIMARY KEY REFERENCES deployments ON DELETE CASCADE,
      opened bigint NOT NULL,
      closed bigint NOT NULL
    );
  `))
