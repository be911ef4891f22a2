import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** What limits count by: failed log-ins of an account, messages to a telephone number. */
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

    -- What is in the store of images, as far as deployments know it: for the quota of accounts.
    CREATE TABLE images (
      digest text PRIMARY KEY,
      layer_bytes bigint NOT NULL,
      unpacked_bytes bigint
    );
    CREATE INDEX ON deployments (image_digest);

    -- Of the plan as JSON: what counts against the account's quota.
    ALTER TABLE import_previews ADD COLUMN bytes integer NOT NULL DEFAULT 0;
    UPDATE import_previews SET bytes = octet_length(plan::text);

    -- Outlive business and account: the money is spent.
    CREATE TABLE sms_messages (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      phone text NOT NULL,
      account_id text NOT NULL,
      sent_at timestamptz NOT NULL,
      -- By the gateway: it did not go out.
      refused boolean NOT NULL DEFAULT false
    );
    CREATE INDEX ON sms_messages (phone, sent_at);
    CREATE INDEX ON sms_messages (account_id, sent_at);
    CREATE INDEX ON sms_messages (sent_at);

    -- Wrong codes, by the number that the right one went to (phone_codes.tries is no longer used).
    CREATE TABLE phone_tries (
      phone text NOT NULL,
      tried_at timestamptz NOT NULL
    );
    CREATE INDEX ON phone_tries (phone, tried_at);
    CREATE INDEX ON phone_tries (tried_at);
  `))
