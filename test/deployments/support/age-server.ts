import { runSql } from "../../support/sql.ts"

/** Lets time pass for a server, as far as the database knows. */
export const ageServer = async (databaseUrl: string, serverId: string) => {
  const sql = (statement: string) => runSql(databaseUrl, statement, [serverId])
  await sql("UPDATE server_use SET used_at = used_at - interval '1 hour' WHERE server_id = $1")
  await sql(
    `UPDATE servers SET running_since = running_since - interval '1 hour',
       asleep_at = asleep_at - interval '10 minutes' WHERE id = $1`
  )
}
