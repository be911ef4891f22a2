import { many, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { HealthHistory } from "./health-history.ts"

const Served = Schema.Struct({ id: Schema.String, generation: Schema.Int })
const Row = Schema.Struct({
  serverId: Schema.String,
  ...HealthHistory.fields,
  isFailing: Schema.Boolean,
  isDue: Schema.Boolean
})

/** What a probe makes of a server's row. `failure` is null when the probe was good. */
interface NewRow extends HealthHistory {
  readonly serverId: string
  readonly score: number
  readonly failure: string | null
}

/** Health of servers. Times are the database's. */
export class ServerHealthRepo extends Effect.Service<ServerHealthRepo>()("servers/ServerHealthRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    return {
      /** The server begins with this history, unless it has one. */
      begin: (serverId: string, path: string, { hours, hourSeconds }: HealthHistory, score: number) =>
        run(sql`INSERT INTO server_health (server_id, path, hours, hour_seconds, score, probed_at)
            VALUES (${serverId}, ${path}, ${JSON.stringify(hours)}::jsonb, ${hourSeconds}, ${score}, now())
            ON CONFLICT (server_id) DO UPDATE SET path = excluded.path`),
      /** Those that run, kept from being deleted until the end of the transaction. */
      running: many(Served)((ids: ReadonlyArray<string>) =>
        sql`SELECT id, generation FROM servers WHERE ${sql.in("id", ids)} AND status = 'running'
            ORDER BY id FOR KEY SHARE`
      ),
      /** Makes rows where there are none. */
      addMissing: (ids: ReadonlyArray<string>) =>
        run(sql`INSERT INTO server_health (server_id, path) SELECT s.id, s.health_path FROM servers s
            WHERE ${sql.in("s.id", ids)} AND NOT EXISTS (SELECT FROM server_health h WHERE h.server_id = s.id)
            ORDER BY s.id ON CONFLICT DO NOTHING`),
      /** Locks the rows. `isDue`: it was not probed within these seconds. */
      lock: many(Row)((ids: ReadonlyArray<string>, seconds: number) =>
        sql`SELECT server_id, hours, hour_seconds, coalesce(failed_at = probed_at, false) AS is_failing,
              coalesce(probed_at <= clock_timestamp() - ${seconds} * interval '1 second', true) AS is_due
            FROM server_health WHERE ${sql.in("server_id", ids)} ORDER BY server_id FOR UPDATE`
      ),
      save: (rows: ReadonlyArray<NewRow>) =>
        run(sql`UPDATE server_health h SET hours = r.hours, hour_seconds = r.hour_seconds, score = r.score,
              probed_at = now(), failed_at = CASE WHEN r.failure IS NULL THEN h.failed_at ELSE now() END,
              failure = coalesce(r.failure, h.failure)
            FROM jsonb_to_recordset(${JSON.stringify(rows.map(columnsOf))}::jsonb)
              AS r (server_id text, hours jsonb, hour_seconds integer, score integer, failure text)
            WHERE h.server_id = r.server_id`)
    } as const
  })
}) {}

const columnsOf = ({ failure, hourSeconds, hours, score, serverId }: NewRow) => ({
  server_id: serverId,
  hours,
  hour_seconds: hourSeconds,
  score,
  failure
})
