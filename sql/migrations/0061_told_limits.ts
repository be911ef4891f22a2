import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** The last share of a period's limit, in percent, that the logs of the account's servers have named. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`
    ALTER TABLE usage ADD requests_told smallint NOT NULL DEFAULT 0, ADD compute_told smallint NOT NULL DEFAULT 0
  `))
