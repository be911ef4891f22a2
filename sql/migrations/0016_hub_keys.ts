import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Keys of agent developers. `day` and `day_count`: how many requests came on the last day on which any came (UTC). */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE hub_keys (
      id text PRIMARY KEY,
      user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
      key_prefix text NOT NULL,
      key_hash bytea NOT NULL UNIQUE,
      tier text NOT NULL CHECK (tier IN ('explorer', 'builder', 'partner')),
      day date NOT NULL DEFAULT '1970-01-01',
      day_count integer NOT NULL DEFAULT 0,
      last_request_at timestamptz,
      created_at timestamptz NOT NULL DEFAULT now(),
      revoked_at timestamptz
    );
    CREATE INDEX ON hub_keys (user_id, id) WHERE revoked_at IS NULL;
  `))
