import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** How a deployment's machine answered the MCP handshake. A table of its own: lists of deployments read no tools. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE deployment_handshakes (
      deployment_id text PRIMARY KEY REFERENCES deployments ON DELETE CASCADE,
      ok boolean NOT NULL,
      transport text CHECK (transport IN ('streamable-http', 'sse')),
      revision text,
      tool_count integer NOT NULL,
      tools jsonb NOT NULL,
      problem text,
      tried_at timestamptz NOT NULL DEFAULT now()
    )
  `))
