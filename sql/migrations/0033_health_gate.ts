import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** What lets a deployment serve, and whether that must include MCP (docs/decisions/health-gate.md). */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    -- Null: as the server's image and business ask for it.
    ALTER TABLE servers ADD COLUMN require_mcp boolean;
    ALTER TABLE deployments
      ADD COLUMN admitted_by text CHECK (admitted_by IN ('health', 'mcp')),
      -- What its stage waits for.
      ADD COLUMN note text;
    UPDATE deployments SET admitted_by = 'health' WHERE deployed_at IS NOT NULL;
  `))
