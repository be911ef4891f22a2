import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** What limits count by: failed log-ins of an account, wherever they came from. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    -- Keyed by hashes: e-mail addresses without an account are counted too, and are nobody's business here.
    CREATE TABLE login_tallies (
      account bytea PRIMARY KEY,
      failures double precision NOT NULL,
      counted_at timestamptz NOT NULL
    );
    CREATE TABLE known_logins (
      bucket bytea PRIMARY KEY,
      succeeded_at timestamptz NOT NULL
    );
    CREATE INDEX ON known_logins (succeeded_at);

    -- Null: anybody may have signed up with the address.
    ALTER TABLE users ADD COLUMN email_verified_at timestamptz;
  `))
