import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * Grants to a composite's URL end with it, however it goes: deleted, expired, or with its account. One of the platform may
 * come back with the same id, and is granted still.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE oauth_grants ADD COLUMN composite_id text GENERATED ALWAYS AS
      (substring(resource FROM '/mcp/composites/([0-9A-HJKMNP-TV-Z]{26})$')) STORED;
    CREATE INDEX oauth_grants_composite ON oauth_grants (composite_id) WHERE composite_id IS NOT NULL;

    CREATE FUNCTION forget_grants_of_composites() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM oauth_grants g USING gone WHERE g.composite_id = gone.id AND gone.created_by <> 'system';
      RETURN NULL;
    END $$;
    CREATE TRIGGER grants_of_composites AFTER DELETE ON composites
      REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION forget_grants_of_composites();
  `))
