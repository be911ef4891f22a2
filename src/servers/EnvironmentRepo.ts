import { anyRow, dieOnSql, many, one, onForeignKey, run } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema, type Statement } from "@effect/sql"
import { Effect, Schema } from "effect"
import { EnvironmentVariableRow } from "./EnvironmentVariable.ts"
import { ServerNotFound } from "./Server.ts"

const SealedRow = Schema.Struct({ name: Schema.String, sealedValue: Schema.String })
const State = Schema.Struct({ state: Schema.String }).pipe(Schema.pluck("state"))

/** Replaced values of a server: twice as many as it can have variables. */
const replacedKept = 200

const Upsert = Schema.Struct({
  ...EnvironmentVariableRow.pick("id", "serverId", "name").fields,
  sealedValue: Schema.String
})

export class EnvironmentRepo extends Effect.Service<EnvironmentRepo>()("servers/EnvironmentRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const upsert = SqlSchema.single({
      Request: Upsert,
      Result: EnvironmentVariableRow,
      execute: (row) =>
        sql`INSERT INTO environment_variables ${sql.insert(row)}
            ON CONFLICT (server_id, name)
            DO UPDATE SET sealed_value = excluded.sealed_value, updated_at = now() RETURNING *`
    })

    /** A deployment whose machine runs, or is being made. */
    const mayRun = (serverId: Statement.Fragment, rest = sql``) =>
      sql`EXISTS (SELECT FROM deployments d WHERE d.server_id = ${serverId}
        AND (d.active OR d.status IN ('pending', 'building')) ${rest})`

    return {
      /** Locks the server's row, so that the count of its variables holds until the transaction ends. */
      lockServer: (id: string) => run(sql`SELECT id FROM servers WHERE id = ${id} FOR NO KEY UPDATE`),
      upsert: (row: typeof Upsert.Type) =>
        upsert(row).pipe(
          onForeignKey("environment_variables_server_id_fkey", () => new ServerNotFound()),
          dieOnSql
        ),
      sealed: many(SealedRow)((serverId: string) =>
        sql`SELECT name, sealed_value FROM environment_variables WHERE server_id = ${serverId} ORDER BY name`
      ),
      /** The same with those that a machine may still have. */
      everSealed: many(SealedRow)((serverId: string) =>
        sql`SELECT name, sealed_value FROM environment_variables WHERE server_id = ${serverId}
            UNION ALL SELECT name, sealed_value FROM replaced_variables WHERE server_id = ${serverId}`
      ),
      /** Another text when one of them has changed. */
      state: one(State)((serverId: string) =>
        sql`SELECT concat_ws(' ', v.count, v.sum, r.count, r.min, r.max) AS state
            FROM (SELECT count(*), sum(extract(epoch FROM updated_at)) FROM environment_variables
                  WHERE server_id = ${serverId}) v,
              (SELECT count(*), min(id), max(id) FROM replaced_variables WHERE server_id = ${serverId}) r`
      ),
      /** Keeps a value that will be replaced, if a machine may have it; the oldest go when there are too many. */
      keep: (id: string, serverId: string, name: string) =>
        run(Effect.zipRight(
          sql`INSERT INTO replaced_variables (id, server_id, name, sealed_value)
              SELECT ${id}, server_id, name, sealed_value FROM environment_variables v
              WHERE server_id = ${serverId} AND name = ${name} AND ${mayRun(sql`v.server_id`)}`,
          sql`DELETE FROM replaced_variables WHERE id IN (SELECT id FROM replaced_variables
                WHERE server_id = ${serverId} ORDER BY id DESC OFFSET ${replacedKept})`
        )),
      /** Forgets replaced values whose machines are gone: a day is more than a machine drains. */
      forget: run(sql`DELETE FROM replaced_variables r WHERE replaced_at < now() - interval '1 day'
        AND NOT ${mayRun(sql`r.server_id`, sql`AND d.created_at < r.replaced_at`)}`),
      remove: (serverId: string, name: string) =>
        anyRow(sql`DELETE FROM environment_variables WHERE server_id = ${serverId} AND name = ${name} RETURNING name`)
    } as const
  })
}) {}
