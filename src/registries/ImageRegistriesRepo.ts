import { Count, dieOnSql, many, maybe, one } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { ImageRegistryRow } from "./ImageRegistry.ts"

const Insert = Schema.Struct({
  ...ImageRegistryRow.pick("id", "host", "username").fields,
  accountId: Schema.String,
  sealedPassword: Schema.String
})
const Sealed = Schema.Struct({ ...ImageRegistryRow.pick("id", "username").fields, sealedPassword: Schema.String })

export class ImageRegistriesRepo extends Effect.Service<ImageRegistriesRepo>()("registries/ImageRegistriesRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const insert = SqlSchema.findOne({
      Request: Insert,
      Result: ImageRegistryRow,
      execute: (row) =>
        sql`INSERT INTO image_registries ${sql.insert(row)} ON CONFLICT (account_id, host) DO NOTHING RETURNING *`
    })

    return {
      /** None when the account has one for the host. */
      insert: (row: typeof Insert.Type) => dieOnSql(insert(row)),
      /** What is undefined stays. */
      update: maybe(ImageRegistryRow)((
        id: string,
        accountId: string,
        username: string | undefined,
        sealedPassword: string | undefined
      ) =>
        sql`UPDATE image_registries SET username = coalesce(${username ?? null}, username),
              sealed_password = coalesce(${sealedPassword ?? null}, sealed_password), updated_at = now()
            WHERE id = ${id} AND account_id = ${accountId} RETURNING *`
      ),
      page: many(ImageRegistryRow)((accountId: string, after: string | undefined, count: number) =>
        sql`SELECT * FROM image_registries WHERE account_id = ${accountId}
            ${after === undefined ? sql`` : sql`AND id < ${after}`} ORDER BY id DESC LIMIT ${count}`
      ),
      total: one(Count)((accountId: string) =>
        sql`SELECT count(*)::int AS count FROM image_registries WHERE account_id = ${accountId}`
      ),
      sealed: maybe(Sealed)((accountId: string, host: string) =>
        sql`SELECT id, username, sealed_password FROM image_registries
            WHERE account_id = ${accountId} AND host = ${host}`
      ),
      remove: maybe(Schema.Struct({ id: Schema.String }))((id: string, accountId: string) =>
        sql`DELETE FROM image_registries WHERE id = ${id} AND account_id = ${accountId} RETURNING id`
      )
    } as const
  })
}) {}
