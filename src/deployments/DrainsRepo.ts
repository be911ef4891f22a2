import { many } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

const DrainingRow = Schema.Struct({ id: Schema.String, version: Schema.Int, millisLeft: Schema.Number })
const Ended = Schema.Struct({ id: Schema.String })

export class DrainsRepo extends Effect.Service<DrainsRepo>()("deployments/DrainsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return {
      /** By the database's clock, which also set the limit. */
      ofServer: many(DrainingRow)((serverId: string) =>
        sql`SELECT id, version, (extract(epoch FROM drains_until - now()) * 1000)::float8 AS millis_left
            FROM deployments WHERE server_id = ${serverId} AND drains_until IS NOT NULL ORDER BY version`
      ),
      /** Ends draining, and tells the gateways; returns those that nobody else has ended before. */
      end: many(Ended)((ids: ReadonlyArray<string>) =>
        sql`WITH ended AS (
              UPDATE deployments SET drains_until = NULL WHERE ${sql.in("id", ids)} AND drains_until IS NOT NULL
              RETURNING id, server_id
            ), told AS (
              SELECT pg_notify('server_changed', s.id || ' ' || s.slug) FROM servers s
              WHERE s.id IN (SELECT server_id FROM ended)
            )
            SELECT e.id FROM ended e CROSS JOIN (SELECT count(*) FROM told) t`
      )
    } as const
  })
}) {}
