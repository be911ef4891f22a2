import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Prices of the payment processor that are or were in the settings: beside them a subscription's own plan counts. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE payment_prices (id text PRIMARY KEY)`)
