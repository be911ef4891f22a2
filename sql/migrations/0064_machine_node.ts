import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** Deployments say which Node a package's machine has, and whether what it needs was resolved anew. */
export default Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql.unsafe(
      `ALTER TABLE deployments ADD COLUMN node text, ADD COLUMN fresh_dependencies boolean NOT NULL DEFAULT false`
    )
)
