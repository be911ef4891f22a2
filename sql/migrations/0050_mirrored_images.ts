import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Images that were pushed to the operator's registry, and so must be removed there again. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE mirrored_images (
      registry text NOT NULL,
      digest text NOT NULL,
      begun_at timestamptz NOT NULL DEFAULT now(),
      pushed_at timestamptz,
      PRIMARY KEY (registry, digest)
    );
  `))
