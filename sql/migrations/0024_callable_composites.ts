import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What callable composites need (docs/decisions/callable-composites.md): the definitions of a deployment's tools,
 * prompts and resources, whether the owner of a listing lets composites call its server (null: when everybody may use
 * that server), and families of tokens that no code or refresh token came with, which live as long as their grant.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE deployment_handshakes ADD COLUMN features jsonb;
    ALTER TABLE listings ADD COLUMN composable boolean;
    ALTER TABLE token_families ADD COLUMN is_lasting boolean NOT NULL DEFAULT false;
  `))
