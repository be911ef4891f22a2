import { many, run, transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { admit } from "./tool-names.ts"

/** Calls of a server's tool by a client that began in a minute and took about the same time. */
export interface CallsDelta {
  readonly serverId: string
  /** Unix milliseconds, of the minute. */
  readonly minute: number
  /** Empty: all others, as for `client`. */
  readonly tool: string
  readonly client: string
  /** A bucket of latency.ts; null: not timed. */
  readonly latency: number | null
  readonly calls: number
  readonly errors: number
  readonly micros: number
}

const counts = { calls: Schema.NumberFromString, errors: Schema.NumberFromString }
const Calls = Schema.Struct({
  tool: Schema.String,
  latency: Schema.NullOr(Schema.Int),
  ...counts,
  micros: Schema.NumberFromString
})
const Clients = Schema.Struct({ tool: Schema.String, client: Schema.String, ...counts })
const Names = Schema.Struct({
  serverId: Schema.String,
  day: Schema.String,
  tools: Schema.Array(Schema.String),
  clients: Schema.Array(Schema.String)
})

/** The bucket of what is not timed, and how long rows are kept: as in ServerRequestsRepo. */
const untimed = -32768
const minutesKept = "25 hours"
const hoursKept = "31 days"

const dayOf = ({ minute }: CallsDelta) => new Date(minute).toISOString().slice(0, 10)
const isFailing = ({ calls, errors }: CallsDelta) => errors >= calls
const keyOf = ({ day, serverId }: { readonly day: string; readonly serverId: string }) => `${serverId} ${day}`

/** The tables of tools' calls. Whoever writes takes rows in the order of their keys. */
export class ToolCallsRepo extends Effect.Service<ToolCallsRepo>()("usage/ToolCallsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const addCalls = sql`ON CONFLICT (server_id, is_hour, began_at, tool, latency) DO UPDATE SET
      calls = tool_calls.calls + excluded.calls, errors = tool_calls.errors + excluded.errors,
      micros = tool_calls.micros + excluded.micros`
    const addClients = sql`ON CONFLICT (server_id, is_hour, began_at, tool, client) DO UPDATE SET
      calls = tool_clients.calls + excluded.calls, errors = tool_clients.errors + excluded.errors`
    const daysOf = (rows: ReadonlyArray<unknown>) =>
      sql`json_to_recordset(${JSON.stringify(rows)}::json) AS d("serverId" text, day date, tools json, clients json)`
    const locked = many(Names)((days: ReadonlyArray<unknown>) =>
      sql`SELECT n.server_id, n.day::text, n.tools, n.clients FROM tool_names n
          JOIN ${daysOf(days)} ON d."serverId" = n.server_id AND d.day = n.day ORDER BY 1, 2 FOR UPDATE OF n`
    )

    /** The names under which calls are counted, whichever gateway asks; the row of a server's day is the lock. */
    const named = Effect.fnUntraced(function*(deltas: ReadonlyArray<CallsDelta>) {
      const days = [
        ...new Map(deltas.map((delta) => {
          const day = { serverId: delta.serverId, day: dayOf(delta) }
          return [keyOf(day), day] as const
        })).values()
      ]
      yield* sql`INSERT INTO tool_names (server_id, day, tools, clients)
        SELECT d."serverId", d.day, '{}', '{}' FROM ${daysOf(days)} ORDER BY 1, 2 ON CONFLICT DO NOTHING`
      const names = new Map(
        (yield* locked(days)).map((
          { clients, tools, ...day }
        ) => [keyOf(day), {
          ...day,
          before: tools.length + clients.length,
          tools: new Set(tools),
          clients: new Set(clients)
        }])
      )
      // What succeeded first: names that exist go before invented ones.
      const inOrder = deltas.toSorted((one, other) => Number(isFailing(one)) - Number(isFailing(other)))
      const counted = inOrder.map((delta) => {
        const known = names.get(keyOf({ serverId: delta.serverId, day: dayOf(delta) }))
        return known === undefined ? delta : { ...delta, ...admit(known, { ...delta, isError: isFailing(delta) }) }
      })
      const grown = [...names.values()].flatMap(({ before, clients, tools, ...day }) =>
        tools.size + clients.size > before ? [{ ...day, tools: [...tools], clients: [...clients] }] : []
      )
      if (grown.length > 0) {
        yield* sql`UPDATE tool_names n SET tools = ARRAY(SELECT json_array_elements_text(d.tools)),
            clients = ARRAY(SELECT json_array_elements_text(d.clients))
          FROM ${daysOf(grown)} WHERE n.server_id = d."serverId" AND n.day = d.day`
      }
      return counted
    })

    const deltasOf = (deltas: ReadonlyArray<CallsDelta>) =>
      sql`json_to_recordset(${JSON.stringify(deltas)}::json) AS d("serverId" text, minute bigint, tool text,
        client text, latency smallint, calls bigint, errors bigint, micros bigint)`
    const ofLast = (serverId: string, hours: number) =>
      sql`server_id = ${serverId} AND (
        NOT is_hour AND began_at >= date_trunc('minute', now() - ${hours} * interval '1 hour')
        OR is_hour AND began_at >= date_trunc('hour', now() - ${hours} * interval '1 hour'))`
    const isOld = sql`NOT is_hour AND began_at < date_trunc('hour', now() - ${minutesKept}::interval)`
    const isGone = sql`is_hour AND began_at < now() - ${hoursKept}::interval`
    const isKept = sql`began_at >= now() - ${hoursKept}::interval`

    return {
      /** In one transaction, so that nothing counts twice or never. */
      add: (deltas: ReadonlyArray<CallsDelta>) =>
        transactionally(sql)(Effect.gen(function*() {
          const rows = deltasOf(yield* named(deltas))
          yield* sql`INSERT INTO tool_calls (server_id, is_hour, began_at, tool, latency, calls, errors, micros)
            SELECT d."serverId", false, to_timestamp(d.minute / 1000.0), d.tool, coalesce(d.latency, ${untimed}),
              sum(d.calls), sum(d.errors), sum(d.micros) FROM ${rows} GROUP BY 1, 3, 4, 5 ORDER BY 1, 3, 4, 5 ${addCalls}`
          yield* sql`INSERT INTO tool_clients (server_id, is_hour, began_at, tool, client, calls, errors)
            SELECT d."serverId", false, to_timestamp(d.minute / 1000.0), d.tool, d.client, sum(d.calls), sum(d.errors)
            FROM ${rows} GROUP BY 1, 3, 4, 5 ORDER BY 1, 3, 4, 5 ${addClients}`
        })),
      callsOfLast: many(Calls)((serverId: string, hours: number) =>
        sql`SELECT tool, nullif(latency, ${untimed}) AS latency, sum(calls)::text AS calls, sum(errors)::text AS errors,
              sum(micros)::text AS micros
            FROM tool_calls WHERE ${ofLast(serverId, hours)} GROUP BY tool, latency`
      ),
      clientsOfLast: many(Clients)((serverId: string, hours: number) =>
        sql`SELECT tool, client, sum(calls)::text AS calls, sum(errors)::text AS errors
            FROM tool_clients WHERE ${ofLast(serverId, hours)} GROUP BY tool, client`
      ),
      /** Makes hours of old minutes, and drops what is older than any period. */
      fold: run(Effect.all([
        sql`WITH old AS (DELETE FROM tool_calls WHERE ${isOld} RETURNING *),
              gone AS (DELETE FROM tool_calls WHERE ${isGone})
            INSERT INTO tool_calls (server_id, is_hour, began_at, tool, latency, calls, errors, micros)
            SELECT server_id, true, date_trunc('hour', began_at), tool, latency, sum(calls), sum(errors), sum(micros)
            FROM old WHERE ${isKept} GROUP BY 1, 3, 4, 5 ORDER BY 1, 3, 4, 5 ${addCalls}`,
        sql`WITH old AS (DELETE FROM tool_clients WHERE ${isOld} RETURNING *),
              gone AS (DELETE FROM tool_clients WHERE ${isGone})
            INSERT INTO tool_clients (server_id, is_hour, began_at, tool, client, calls, errors)
            SELECT server_id, true, date_trunc('hour', began_at), tool, client, sum(calls), sum(errors)
            FROM old WHERE ${isKept} GROUP BY 1, 3, 4, 5 ORDER BY 1, 3, 4, 5 ${addClients}`,
        sql`DELETE FROM tool_names WHERE day < (now() AT TIME ZONE 'UTC')::date - 2`
      ]))
    } as const
  })
}) {}
