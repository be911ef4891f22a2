import { many, run, withLongTimeout } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { LogEntryRow, type LogLevel } from "./ServerLog.ts"

interface Filter {
  readonly serverId: string
  readonly level: typeof LogLevel.Type | undefined
  readonly search: string | undefined
  readonly before: string | undefined
  readonly count: number
}

/** What a plan keeps of each server's log. */
interface Kept {
  readonly plan: string
  readonly lines: number
  /** An id: entries are in the order of their ids. */
  readonly before: string
}

/** A substring pattern for ILIKE, with its wildcards escaped. */
const substringPattern = (text: string) => `%${text.replace(/[\\%_]/g, "\\$&")}%`

export class ServerLogsRepo extends Effect.Service<ServerLogsRepo>()("servers/ServerLogsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    return {
      /** The oldest entries after one, in the order they were written. */
      after: many(LogEntryRow)((
        { after, count, level, search, serverId }: Omit<Filter, "before"> & { readonly after: string }
      ) =>
        sql`SELECT * FROM server_logs WHERE server_id = ${serverId} AND id > ${after}
            ${level === undefined ? sql`` : sql`AND level = ${level}`}
            ${search === undefined ? sql`` : sql`AND message ILIKE ${substringPattern(search)}`}
            ORDER BY id LIMIT ${count}`
      ),
      read: many(LogEntryRow)(({ before, count, level, search, serverId }: Filter) =>
        sql`SELECT * FROM server_logs WHERE server_id = ${serverId}
            ${level === undefined ? sql`` : sql`AND level = ${level}`}
            ${search === undefined ? sql`` : sql`AND message ILIKE ${substringPattern(search)}`}
            ${before === undefined ? sql`` : sql`AND id < ${before}`}
            ORDER BY id DESC LIMIT ${count}`
      ),
      /** Entries of deleted servers are dropped; one that is being deleted is waited for. */
      append: (rows: ReadonlyArray<typeof LogEntryRow.Type>) =>
        run(sql`
          INSERT INTO server_logs (id, server_id, level, message, timestamp)
          SELECT row.id, row.server_id, row.level, row.message, row.timestamp
          FROM jsonb_to_recordset(${
          JSON.stringify(rows.map(({ serverId, ...row }) => ({ ...row, server_id: serverId })))
        }::jsonb)
            AS row (id text, server_id text, level text, message text, timestamp timestamptz)
          JOIN servers ON servers.id = row.server_id FOR KEY SHARE OF servers`),
      /** Keeps the newest entries of each server, as many and as long as its account's plan has it. */
      trim: (kept: ReadonlyArray<Kept>) =>
        withLongTimeout(sql)(Effect.asVoid(sql`
          DELETE FROM server_logs l USING (
            SELECT s.id, k.before, (SELECT n.id FROM server_logs n WHERE n.server_id = s.id ORDER BY n.id DESC
                                  OFFSET k.lines LIMIT 1) AS last
            FROM servers s JOIN projects p ON p.id = s.project_id JOIN users u ON u.id = p.account_id
            JOIN json_to_recordset(${
          JSON.stringify(kept)
        }::json) AS k(plan text, lines int, before text) ON k.plan = u.plan
          ) cut WHERE l.server_id = cut.id
            AND l.id <= greatest(cut.last, cut.before)`))
    } as const
  })
}) {}
