import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * An API key that an OAuth client made ends with the grant that let it (docs/decisions/keys-made-by-clients.md). Of the
 * family of tokens it is made with the id alone is kept: families are swept, and the key goes on.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE api_keys
      ADD COLUMN grant_id text REFERENCES oauth_grants ON DELETE CASCADE,
      ADD COLUMN family_id text,
      ADD CHECK ((grant_id IS NULL) = (family_id IS NULL));
    CREATE INDEX ON api_keys (grant_id) WHERE grant_id IS NOT NULL;
    CREATE INDEX ON api_keys (family_id) WHERE family_id IS NOT NULL;
  `))
