import { PlanName } from "#src/plans/Plan.ts"
import { dieOnSql } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Option, Schema } from "effect"

/** A hosted server as the one who asks. */
const Machine = Schema.Struct({
  serverId: Schema.String,
  slug: Schema.String,
  authMode: Schema.Literal("service_managed", "byoa"),
  accountId: Schema.String,
  plan: PlanName
})
export type Machine = typeof Machine.Type

export class IntrospectionRepo extends Effect.Service<IntrospectionRepo>()("oauth/IntrospectionRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const machine = SqlSchema.findOne({
      Request: Schema.Uint8ArrayFromSelf,
      Result: Machine,
      execute: (hash) =>
        sql`SELECT s.id AS server_id, s.slug, s.auth_mode, p.account_id, u.plan
            FROM servers s JOIN projects p ON p.id = s.project_id JOIN users u ON u.id = p.account_id
            WHERE sha256(decode(s.replay_token, 'escape')) = ${hash} AND s.replay_token <> ''`
    })
    const standing = SqlSchema.findOne({
      Request: Schema.Struct({ userId: Schema.String, familyId: Schema.NullOr(Schema.String) }),
      Result: Schema.Struct({ stands: Schema.Boolean }),
      execute: ({ familyId, userId }) =>
        sql`SELECT ${familyId}::text IS NULL OR EXISTS (
              SELECT FROM token_families f JOIN oauth_grants g ON g.id = f.grant_id
              WHERE f.id = ${familyId} AND f.revoked_at IS NULL AND g.revoked_at IS NULL
            ) AS stands FROM users WHERE id = ${userId}`
    })

    return {
      /** The server whose replay token has this SHA-256. */
      machine: (hash: Uint8Array) => dieOnSql(machine(hash)),
      /** Whether a token's user is still there and the family it belongs to not revoked. */
      stands: (userId: string, familyId: string | undefined) =>
        dieOnSql(Effect.map(
          standing({ userId, familyId: familyId ?? null }),
          Option.exists(({ stands }) => stands)
        ))
    } as const
  })
}) {}
