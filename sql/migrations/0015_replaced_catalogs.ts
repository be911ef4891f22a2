import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * A publication into an existing business replaces its catalog. The rows that were there are kept as they were, so that
 * a revert of the import brings them back. A migration that adds a column without a default to the catalog's tables
 * adds it to these documents too.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE replaced_catalogs (
      -- One for each business: what its last replacement took away.
      business_id text PRIMARY KEY REFERENCES businesses ON DELETE CASCADE,
      import_id text NOT NULL,
      categories jsonb NOT NULL,
      items jsonb NOT NULL,
      replaced_at timestamptz NOT NULL DEFAULT now()
    );
    ALTER TABLE import_audit ADD COLUMN replaced boolean NOT NULL DEFAULT false;
    -- The publication's own deployment has a later version.
    ALTER TABLE publications ADD COLUMN after_version integer NOT NULL DEFAULT 0;
  `))
