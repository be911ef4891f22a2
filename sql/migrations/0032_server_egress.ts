import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** What a server's machine reaches outside: "internet", "none", {"allow": […]}; null is the plan's default. */
export default Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe("ALTER TABLE servers ADD egress jsonb;"))
