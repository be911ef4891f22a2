import { many, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { LRUCache } from "lru-cache"

/** Seconds until a server is asked: a ready-made one takes its configuration anew when its own is 5 seconds old. */
const settleSeconds = 6
/** Seconds after a first failure; after a second one twice as many. */
const retrySeconds = 30
const mostTries = 3
/** Servers that are asked in one turn. */
const batch = 100

/** A server that says again and again that its lists changed is marked once in so long: before it is asked. */
const calmMillis = (settleSeconds - 1) * 1_000

const Due = Schema.Struct({ serverId: Schema.String, askedAt: Schema.DateFromSelf })
type Due = typeof Due.Type

/**
 * Servers whose tools may have changed while they run, since what they serve was changed. A server that is stopped
 * stays here until it runs. Times are the database's.
 */
export class StaleTools extends Effect.Service<StaleTools>()("servers/StaleTools", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const settled = sql`${settleSeconds} * interval '1 second'`
    const marked = new LRUCache<string, true>({ max: 10_000, ttl: calmMillis })

    /** In the caller's transaction, if there is one. */
    const mark = (serverId: string) =>
      run(sql`INSERT INTO stale_tools AS t (server_id, marked_at, due_at)
          VALUES (${serverId}, clock_timestamp(), clock_timestamp() + ${settled})
          ON CONFLICT (server_id) DO UPDATE SET marked_at = excluded.marked_at, tries = 0,
            due_at = least(t.due_at, excluded.due_at)`)

    return {
      mark,
      /** The server said itself that its lists changed. */
      told: (serverId: string) =>
        Effect.suspend(() => {
          if (marked.has(serverId)) return Effect.void
          marked.set(serverId, true)
          return mark(serverId)
        }),
      /** Those to ask now: they run, or are gone. */
      due: Effect.suspend(() =>
        many(Due)(() =>
          sql`SELECT t.server_id, now() AS asked_at FROM stale_tools t LEFT JOIN servers s ON s.id = t.server_id
              WHERE t.due_at <= now() AND (s.id IS NULL OR s.status = 'running')
              ORDER BY t.due_at LIMIT ${batch}`
        )()
      ),
      /** It was asked. When it was marked so shortly before that it may not have known, it is asked once more. */
      listed: ({ askedAt, serverId }: Due) =>
        run(sql`WITH known AS (
              DELETE FROM stale_tools WHERE server_id = ${serverId} AND marked_at <= ${askedAt}::timestamptz - ${settled}
            )
            UPDATE stale_tools SET due_at = marked_at + ${settled}
            WHERE server_id = ${serverId} AND marked_at > ${askedAt}::timestamptz - ${settled}`),
      /** It did not answer. */
      missed: ({ serverId }: Due) =>
        run(sql`WITH over AS (
              DELETE FROM stale_tools WHERE server_id = ${serverId} AND tries >= ${mostTries - 1}
            )
            UPDATE stale_tools SET tries = tries + 1, due_at = now() + (tries + 1) * ${retrySeconds} * interval '1 second'
            WHERE server_id = ${serverId} AND tries < ${mostTries - 1}`)
    } as const
  })
}) {}
