import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** What the limits of new accounts count (docs/operate.md), and whose wrong codes they were. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE sms_messages ADD COLUMN is_new_account boolean NOT NULL DEFAULT false;
    ALTER TABLE phone_tries ADD COLUMN account_id text NOT NULL DEFAULT '';
  `))
