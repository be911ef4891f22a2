import { type SqlClient, type Statement } from "@effect/sql"

/** A gateway that said nothing for so long is gone, and what it had open with it. It says something every three. */
const goneAfterSeconds = 20

/** Of a row `g` of `gateways`: whether it is alive. */
export const isAlive = (sql: SqlClient.SqlClient) =>
  sql`g.seen_at > clock_timestamp() - ${goneAfterSeconds} * interval '1 second'`

/** Whether a gateway reported a request to the server since a moment, or has one open. */
export const usedSince = (sql: SqlClient.SqlClient, serverId: Statement.Fragment, since: Statement.Fragment) =>
  sql`EXISTS (SELECT 1 FROM server_use u WHERE u.server_id = ${serverId} AND (u.used_at > ${since}
    OR u.open > 0 AND EXISTS (SELECT 1 FROM gateways g WHERE g.id = u.gateway AND ${isAlive(sql)})))`
