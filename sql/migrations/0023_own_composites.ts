import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * What composites are ordered by when they are browsed: trust, members and mean health (in hundredths) as they were at
 * `standing_at` (docs/decisions/composite-order.md).
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE composites
      ADD COLUMN standing_trust smallint NOT NULL DEFAULT 0,
      ADD COLUMN standing_members integer NOT NULL DEFAULT 0,
      ADD COLUMN standing_health smallint NOT NULL DEFAULT 0,
      ADD COLUMN standing_at timestamptz NOT NULL DEFAULT '-infinity';
    CREATE INDEX composites_browsed ON composites ((-standing_trust), (-standing_members), (-standing_health), id)
      WHERE visibility = 'public';
    CREATE INDEX ON composites (standing_at) WHERE visibility = 'public';
    CREATE INDEX ON composites (slug);
    CREATE INDEX ON composites (expires_at) WHERE expires_at IS NOT NULL;
  `))
