import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** The last share of a limit of the period, in percent, that the account's owner was told of. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE usage ADD requests_told smallint NOT NULL DEFAULT 0, ADD compute_told smallint NOT NULL DEFAULT 0
  `))
