import { many, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

/** Requests of a server that began in a minute and took about the same time. */
export interface RequestsDelta {
  readonly serverId: string
  /** Unix milliseconds, of the minute. */
  readonly minute: number
  /** A bucket of latency.ts; null: not timed. */
  readonly latency: number | null
  readonly requests: number
  readonly errors: number
  readonly micros: number
}

const Requests = Schema.Struct({
  latency: Schema.NullOr(Schema.Int),
  requests: Schema.NumberFromString,
  errors: Schema.NumberFromString,
  micros: Schema.NumberFromString
})

const RequestsAt = Schema.Struct({ ...Requests.fields, at: Schema.NumberFromString })

/** The bucket of what is not timed: the least number of the column. */
const untimed = -32768

/** Minutes are kept for the longest period that is read by the minute, and hours for the longest of all. */
const minutesKept = "25 hours"
const hoursKept = "31 days"

/** The table `server_requests`. Whoever writes takes rows in the order of their keys. */
export class ServerRequestsRepo extends Effect.Service<ServerRequestsRepo>()("usage/ServerRequestsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const add = sql`ON CONFLICT (server_id, is_hour, began_at, latency) DO UPDATE SET
      requests = server_requests.requests + excluded.requests, errors = server_requests.errors + excluded.errors,
      micros = server_requests.micros + excluded.micros`
    /** Of the last so many hours, and of the minute, or the hour, in which they begin. */
    const isOfLast = (serverId: string, hours: number) =>
      sql`server_id = ${serverId} AND (
        NOT is_hour AND began_at >= date_trunc('minute', now() - ${hours} * interval '1 hour')
        OR is_hour AND began_at >= date_trunc('hour', now() - ${hours} * interval '1 hour'))`
    const sums =
      sql`nullif(latency, ${untimed}) AS latency, sum(requests)::text AS requests, sum(errors)::text AS errors, sum(micros)::text AS micros`
    return {
      add: (deltas: ReadonlyArray<RequestsDelta>) =>
        run(sql`INSERT INTO server_requests (server_id, is_hour, began_at, latency, requests, errors, micros)
            SELECT d."serverId", false, to_timestamp(d.minute / 1000.0), coalesce(d.latency, ${untimed}), d.requests, d.errors, d.micros
            FROM json_to_recordset(${JSON.stringify(deltas)}::json) AS d("serverId" text, minute bigint,
              latency smallint, requests bigint, errors bigint, micros bigint)
            ORDER BY 1, 3, 4 ${add}`),
      ofLast: many(Requests)((serverId: string, hours: number) =>
        sql`SELECT ${sums} FROM server_requests WHERE ${isOfLast(serverId, hours)} GROUP BY latency`
      ),
      /** The same by steps of so many seconds; `at` is the number of the step since 1970. */
      seriesOf: many(RequestsAt)((serverId: string, hours: number, seconds: number) =>
        sql`SELECT floor(extract(epoch FROM began_at) / ${seconds})::text AS at, ${sums}
            FROM server_requests WHERE ${isOfLast(serverId, hours)} GROUP BY 1, latency`
      ),
      /** Makes hours of old minutes, in one statement, and drops what is older than any period. */
      fold: run(sql`WITH old AS (
            DELETE FROM server_requests WHERE NOT is_hour
              AND began_at < date_trunc('hour', now() - ${minutesKept}::interval)
            RETURNING server_id, began_at, latency, requests, errors, micros
          ), dropped AS (
            DELETE FROM server_requests WHERE is_hour AND began_at < now() - ${hoursKept}::interval
          )
          INSERT INTO server_requests (server_id, is_hour, began_at, latency, requests, errors, micros)
          SELECT server_id, true, date_trunc('hour', began_at), latency, sum(requests), sum(errors), sum(micros)
          FROM old WHERE began_at >= now() - ${hoursKept}::interval GROUP BY 1, 3, 4 ORDER BY 1, 3, 4 ${add}`)
    } as const
  })
}) {}
