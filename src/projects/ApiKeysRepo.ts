import { AccountId } from "#src/accounts/CurrentActor.ts"
import { prepared } from "#src/format/prepared.ts"
import { PlanName } from "#src/plans/Plan.ts"
import { anyRow, Count, dieOnSql, many, maybe, one, onForeignKey, run } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { ApiKeyRow } from "./ApiKey.ts"
import { ProjectNotFound } from "./Project.ts"

const KeyHolder = Schema.Struct({
  ...ApiKeyRow.pick("id", "projectId", "environment", "scopes", "lastUsedAt").fields,
  accountId: AccountId,
  email: Schema.String,
  plan: PlanName
})
/** The grant and token family of the OAuth client that made a key; null for a key that its owner made. */
const Origin = Schema.Struct({ grantId: Schema.NullOr(Schema.String), familyId: Schema.NullOr(Schema.String) })
export type Origin = typeof Origin.Type
const Insert = Schema.Struct({
  ...ApiKeyRow.pick("id", "projectId", "name", "environment", "keyPrefix", "scopes").fields,
  ...Origin.fields,
  keyHash: Schema.Uint8ArrayFromSelf
})

export class ApiKeysRepo extends Effect.Service<ApiKeysRepo>()("projects/ApiKeysRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const insert = SqlSchema.single({
      Request: Insert,
      Result: ApiKeyRow,
      execute: (row) => sql`INSERT INTO api_keys ${sql.insert({ ...row, scopes: [...row.scopes] })} RETURNING *`
    })

    return {
      /** Locks the project's row, so that a count in the same transaction stays true until its end. */
      lockProject: (projectId: string) => run(sql`SELECT id FROM projects WHERE id = ${projectId} FOR NO KEY UPDATE`),
      insert: (row: typeof Insert.Type) =>
        insert(row).pipe(onForeignKey("api_keys_project_id_fkey", () => new ProjectNotFound()), dieOnSql),
      list: many(ApiKeyRow)((projectId: string, after: string | undefined, count: number) =>
        sql`SELECT * FROM api_keys WHERE project_id = ${projectId}
            ${after === undefined ? sql`` : sql`AND id < ${after}`} ORDER BY id DESC LIMIT ${count}`
      ),
      total: one(Count)((projectId: string) =>
        sql`SELECT count(*)::int AS count FROM api_keys WHERE project_id = ${projectId}`
      ),
      holder: maybe(KeyHolder)((hash: Uint8Array, now: Date) =>
        sql`${sql.literal(prepared)}
            SELECT k.id, k.project_id, k.environment, k.scopes, k.last_used_at, p.account_id, u.email, u.plan FROM api_keys k
            JOIN projects p ON p.id = k.project_id JOIN users u ON u.id = p.account_id
            WHERE k.key_hash = ${hash} AND (k.expires_at IS NULL OR k.expires_at > ${now})`
      ),
      touch: (id: string) => run(sql`UPDATE api_keys SET last_used_at = now() WHERE id = ${id}`),
      /** The grant and token family for a new key; none when either was revoked. */
      // FOR SHARE makes a concurrent revocation wait for the commit, so that it then finds and deletes the new key.
      activeOrigin: maybe(Schema.Struct({ grantId: Schema.String, familyId: Schema.String }))((familyId: string) =>
        sql`SELECT g.id AS grant_id, f.id AS family_id
            FROM oauth_grants g JOIN token_families f ON f.grant_id = g.id
            WHERE f.id = ${familyId} AND f.revoked_at IS NULL AND g.revoked_at IS NULL FOR SHARE OF g, f`
      ),
      hasOfGrant: (grantId: string) => anyRow(sql`SELECT id FROM api_keys WHERE grant_id = ${grantId} LIMIT 1`),
      removeOfGrant: (grantId: string) => run(sql`DELETE FROM api_keys WHERE grant_id = ${grantId}`),
      removeOfFamily: (familyId: string) => run(sql`DELETE FROM api_keys WHERE family_id = ${familyId}`),
      remove: maybe(Schema.Struct({ id: Schema.String }))((id: string, accountId: string) =>
        sql`DELETE FROM api_keys k USING projects p
            WHERE k.id = ${id} AND p.id = k.project_id AND p.account_id = ${accountId} RETURNING k.id`
      )
    } as const
  })
}) {}
