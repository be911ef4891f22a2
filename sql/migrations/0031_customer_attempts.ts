import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/**
 * How often the processor has refused to make a customer for an account: a part of the call's idempotency key
 * (docs/decisions/subscriptions.md). It is needed while the account has no row of billing_customers.
 */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    CREATE TABLE billing_customer_attempts (
      account_id text PRIMARY KEY REFERENCES users ON DELETE CASCADE,
      failed integer NOT NULL
    );
  `))
