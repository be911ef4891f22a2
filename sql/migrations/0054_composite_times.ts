import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * An account's composites are listed by the time that callers see, which has milliseconds, and then by id: two that
 * differ by less are of one time in the list too.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE composites
      ALTER COLUMN created_at TYPE timestamptz(3),
      ALTER COLUMN updated_at TYPE timestamptz(3);
    CREATE INDEX composites_own ON composites (user_id, created_at, id);
    DROP INDEX composites_user_id_id_idx;
  `))
