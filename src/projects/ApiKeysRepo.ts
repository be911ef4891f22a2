import { AccountId } from "#src/accounts/CurrentActor.ts"
import { PlanName } from "#src/plans/Plan.ts"
import { dieOnSql, onForeignKey } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Schema } from "effect"
import { ApiKeyRow } from "./ApiKey.ts"
import { ProjectNotFound } from "./Project.ts"

const KeyHolder = Schema.Struct({
  ...ApiKeyRow.fields,
  accountId: AccountId,
  email: Schema.String,
  plan: PlanName
})
/** What an OAuth client made a key with; null for a key of its owner's. */
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
    const list = SqlSchema.findAll({
      Request: Schema.Struct({
        projectId: Schema.String,
        after: Schema.UndefinedOr(Schema.String),
        count: Schema.Int
      }),
      Result: ApiKeyRow,
      execute: ({ after, count, projectId }) =>
        sql`SELECT * FROM api_keys WHERE project_id = ${projectId}
            ${after === undefined ? sql`` : sql`AND id < ${after}`} ORDER BY id DESC LIMIT ${count}`
    })
    const total = SqlSchema.single({
      Request: Schema.String,
      Result: Schema.Struct({ count: Schema.Int }),
      execute: (projectId) => sql`SELECT count(*)::int AS count FROM api_keys WHERE project_id = ${projectId}`
    })
    const holder = SqlSchema.findOne({
      Request: Schema.Struct({ hash: Schema.Uint8ArrayFromSelf, now: Schema.DateFromSelf }),
      Result: KeyHolder,
      execute: ({ hash, now }) =>
        sql`SELECT k.*, p.account_id, u.email, u.plan FROM api_keys k
            JOIN projects p ON p.id = k.project_id JOIN users u ON u.id = p.account_id
            WHERE k.key_hash = ${hash} AND (k.expires_at IS NULL OR k.expires_at > ${now})`
    })
    const remove = SqlSchema.findOne({
      Request: Schema.Struct({ id: Schema.String, accountId: Schema.String }),
      Result: Schema.Struct({ id: Schema.String }),
      execute: ({ accountId, id }) =>
        sql`DELETE FROM api_keys k USING projects p
            WHERE k.id = ${id} AND p.id = k.project_id AND p.account_id = ${accountId} RETURNING k.id`
    })

    // Both rows stay as they are until the transaction ends: who revokes them waits, and then finds the key.
    const standing = SqlSchema.findOne({
      Request: Schema.String,
      Result: Schema.Struct({ grantId: Schema.String, familyId: Schema.String }),
      execute: (familyId) =>
        sql`SELECT g.id AS grant_id, f.id AS family_id
            FROM oauth_grants g JOIN token_families f ON f.grant_id = g.id
            WHERE f.id = ${familyId} AND f.revoked_at IS NULL AND g.revoked_at IS NULL FOR SHARE OF g, f`
    })

    return {
      /** Locks the project's row, so that a count made in the same transaction holds until its end. */
      lockProject: (projectId: string) =>
        dieOnSql(Effect.asVoid(sql`SELECT id FROM projects WHERE id = ${projectId} FOR NO KEY UPDATE`)),
      insert: (row: typeof Insert.Type) =>
        insert(row).pipe(onForeignKey("api_keys_project_id_fkey", () => new ProjectNotFound()), dieOnSql),
      list: (projectId: string, after: string | undefined, count: number) =>
        dieOnSql(list({ projectId, after, count })),
      total: (projectId: string) => dieOnSql(Effect.map(total(projectId), (row) => row.count)),
      holder: (hash: Uint8Array, now: Date) => dieOnSql(holder({ hash, now })),
      touch: (id: string) => dieOnSql(Effect.asVoid(sql`UPDATE api_keys SET last_used_at = now() WHERE id = ${id}`)),
      /** What a client whose tokens are of this family makes keys with; none when it has been revoked. */
      standing: (familyId: string) => dieOnSql(standing(familyId)),
      removeOfGrant: (grantId: string) =>
        dieOnSql(Effect.asVoid(sql`DELETE FROM api_keys WHERE grant_id = ${grantId}`)),
      removeOfFamily: (familyId: string) =>
        dieOnSql(Effect.asVoid(sql`DELETE FROM api_keys WHERE family_id = ${familyId}`)),
      remove: (id: string, accountId: string) => dieOnSql(remove({ id, accountId }))
    } as const
  })
}) {}
