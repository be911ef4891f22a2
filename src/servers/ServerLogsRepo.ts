import { dieOnSql, patiently } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { LogEntryRow, LogLevel } from "./ServerLog.ts"

const Filter = Schema.Struct({
  serverId: Schema.String,
  level: Schema.UndefinedOr(LogLevel),
  search: Schema.UndefinedOr(Schema.String),
  before: Schema.UndefinedOr(Schema.String),
  count: Schema.Int
})

/** A substring for ILIKE: its own wildcards stand for themselves. */
const literally = (text: string) => `%${text.replace(/[\\%_]/g, "\\$&")}%`

export class ServerLogsRepo extends Effect.Service<ServerLogsRepo>()("servers/ServerLogsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const read = SqlSchema.findAll({
      Request: Filter,
      Result: LogEntryRow,
      execute: ({ before, count, level, search, serverId }) =>
        sql`SELECT * FROM server_logs WHERE server_id = ${serverId}
            ${level === undefined ? sql`` : sql`AND level = ${level}`}
            ${search === undefined ? sql`` : sql`AND message ILIKE ${literally(search)}`}
            ${before === undefined ? sql`` : sql`AND id < ${before}`}
            ORDER BY id DESC LIMIT ${count}`
    })

    const after = SqlSchema.findAll({
      Request: Schema.Struct({
        ...Filter.omit("before").fields,
        after: Schema.String
      }),
      Result: LogEntryRow,
      execute: ({ after, count, level, search, serverId }) =>
        sql`SELECT * FROM server_logs WHERE server_id = ${serverId} AND id > ${after}
            ${level === undefined ? sql`` : sql`AND level = ${level}`}
            ${search === undefined ? sql`` : sql`AND message ILIKE ${literally(search)}`}
            ORDER BY id LIMIT ${count}`
    })

    return {
      /** The oldest entries after one, in the order they were written. */
      after: (filter: Parameters<typeof after>[0]) => dieOnSql(after(filter)),
      read: (filter: typeof Filter.Type) => dieOnSql(read(filter)),
      /** Entries of servers that are gone are dropped: their place in the world is too. */
      append: (rows: ReadonlyArray<typeof LogEntryRow.Type>) =>
        dieOnSql(Effect.asVoid(sql`
          INSERT INTO server_logs (id, server_id, level, message, timestamp)
          SELECT row.id, row.server_id, row.level, row.message, row.timestamp
          FROM jsonb_to_recordset(${
          JSON.stringify(rows.map(({ serverId, ...row }) => ({ ...row, server_id: serverId })))
        }::jsonb)
            AS row (id text, server_id text, level text, message text, timestamp timestamptz)
          JOIN servers ON servers.id = row.server_id`)),
      /** Keeps the newest entries of each server. */
      trim: (keep: number) =>
        patiently(sql)(Effect.asVoid(sql`
          DELETE FROM server_logs l USING (
            SELECT s.id, (SELECT n.id FROM server_logs n WHERE n.server_id = s.id ORDER BY n.id DESC
                          OFFSET ${keep} LIMIT 1) AS last
            FROM servers s
          ) cut WHERE l.server_id = cut.id AND cut.last IS NOT NULL AND l.id <= cut.last`))
    } as const
  })
}) {}
