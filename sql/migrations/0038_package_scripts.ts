import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Deployments say whether the install scripts of their package are run. */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql.unsafe("ALTER TABLE deployments ADD COLUMN package_scripts boolean NOT NULL DEFAULT false")
)
