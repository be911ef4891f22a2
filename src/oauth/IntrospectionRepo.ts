import { PlanName } from "#src/plans/Plan.ts"
import { maybe } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option, Schema } from "effect"

/** The hosted server that sends an introspection request. */
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

    const active = maybe(Schema.Struct({ active: Schema.Boolean }).pipe(Schema.pluck("active")))((
      userId: string,
      familyIds: ReadonlyArray<string>
    ) =>
      sql`SELECT NOT EXISTS (
              SELECT FROM unnest(${[...familyIds]}::text[]) asked (id)
                LEFT JOIN token_families f ON f.id = asked.id AND f.revoked_at IS NULL
                LEFT JOIN oauth_grants g ON g.id = f.grant_id AND g.revoked_at IS NULL
              WHERE g.id IS NULL
            ) AS active FROM users WHERE id = ${userId}`
    )

    return {
      /** The server whose replay token has this SHA-256. */
      machine: maybe(Machine)((hash: Uint8Array) =>
        sql`SELECT s.id AS server_id, s.slug, s.auth_mode, p.account_id, u.plan
            FROM servers s JOIN projects p ON p.id = s.project_id JOIN users u ON u.id = p.account_id
            WHERE sha256(decode(s.replay_token, 'escape')) = ${hash} AND s.replay_token <> ''`
      ),
      /** Whether a token's user exists and none of its families, and of their grants, is revoked. */
      isActive: (userId: string, familyIds: ReadonlyArray<string | undefined>) =>
        Effect.map(active(userId, familyIds.filter((id) => id !== undefined)), Option.contains(true))
    } as const
  })
}) {}
