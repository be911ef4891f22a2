import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** An account's users of private image registries, by the registry's host as image addresses have it. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE image_registries (
      id text PRIMARY KEY,
      account_id text NOT NULL REFERENCES users ON DELETE CASCADE,
      host text NOT NULL,
      username text NOT NULL,
      sealed_password text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now(),
      UNIQUE (account_id, host)
    );
  `))
