import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** A sign-up's answer is kept for its retry too, and the account is not there when its key is taken. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE idempotency_keys DROP CONSTRAINT idempotency_keys_account_id_fkey;
    COMMENT ON COLUMN idempotency_keys.account_id IS 'An account, or sign-up';
  `))
