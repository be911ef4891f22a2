import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Until when requests wait for a server that its owner restarts, as they wait for one that wakes
 * (docs/decisions/sleeping-servers.md). It passes by itself where the platform ends in the restart.
 */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql.unsafe("ALTER TABLE servers ADD COLUMN restarting_until timestamptz")
)
