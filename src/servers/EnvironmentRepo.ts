import { anyRow, dieOnSql, many, onForeignKey, run } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { EnvironmentVariableRow } from "./EnvironmentVariable.ts"
import { ServerNotFound } from "./Server.ts"

const SealedRow = Schema.Struct({ name: Schema.String, sealedValue: Schema.String })
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
      remove: (serverId: string, name: string) =>
        anyRow(sql`DELETE FROM environment_variables WHERE server_id = ${serverId} AND name = ${name} RETURNING name`)
    } as const
  })
}) {}
