import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Several credentials for a host, and servers that name theirs (docs/decisions/registry-credentials.md). A host's own
 * has the host for a name.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE image_registries ADD COLUMN name text;
    UPDATE image_registries SET name = host;
    ALTER TABLE image_registries
      ALTER COLUMN name SET NOT NULL,
      DROP CONSTRAINT image_registries_account_id_host_key,
      ADD UNIQUE (account_id, name);
    -- Null: the one of the image's host.
    ALTER TABLE servers ADD COLUMN registry_credential text;
    CREATE INDEX servers_registry_credential ON servers (registry_credential) WHERE registry_credential IS NOT NULL;
  `))
