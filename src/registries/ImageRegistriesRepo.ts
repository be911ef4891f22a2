import { anyRow, Count, dieOnSql, many, maybe, one } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { ImageRegistryRow } from "./ImageRegistry.ts"

const Insert = Schema.Struct({
  ...ImageRegistryRow.pick("id", "host", "name", "username").fields,
  accountId: Schema.String,
  sealedPassword: Schema.String
})
const Sealed = Schema.Struct({
  ...ImageRegistryRow.pick("id", "name", "username").fields,
  sealedPassword: Schema.String
})

export class ImageRegistriesRepo extends Effect.Service<ImageRegistriesRepo>()("registries/ImageRegistriesRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const insert = SqlSchema.findOne({
      Request: Insert,
      Result: ImageRegistryRow,
      execute: (row) =>
        sql`INSERT INTO image_registries ${sql.insert(row)} ON CONFLICT (account_id, name) DO NOTHING RETURNING *`
    })

    return {
      /** None when the account has one of that name. */
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
      /** The one that is named, if it is for that host; else the host's own. */
      sealed: maybe(Sealed)((accountId: string, host: string, named: string | null) =>
        sql`SELECT id, name, username, sealed_password FROM image_registries
            WHERE account_id = ${accountId} AND host = ${host} AND name IN (${host}, ${named ?? host})
            ORDER BY name = ${host} LIMIT 1`
      ),
      find: maybe(ImageRegistryRow)((id: string, accountId: string) =>
        sql`SELECT * FROM image_registries WHERE id = ${id} AND account_id = ${accountId}`
      ),
      has: (accountId: string, name: string) =>
        anyRow(sql`SELECT id FROM image_registries WHERE account_id = ${accountId} AND name = ${name}`),
      /** The servers that name a credential. */
      namedBy: many(Schema.Struct({ id: Schema.String, name: Schema.String }))((accountId: string, name: string) =>
        sql`SELECT s.id, s.name FROM servers s JOIN projects p ON p.id = s.project_id
            WHERE s.registry_credential = ${name} AND p.account_id = ${accountId} ORDER BY s.id`
      ),
      remove: maybe(Schema.Struct({ id: Schema.String }))((id: string, accountId: string) =>
        sql`DELETE FROM image_registries WHERE id = ${id} AND account_id = ${accountId} RETURNING id`
      )
    } as const
  })
}) {}
