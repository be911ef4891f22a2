import { Count, many, maybe, one, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { compositesClientId, exchangeClientId, Grant, renewableClientIds } from "./Grant.ts"

const GrantRow = Schema.Struct({
  ...Grant.fields,
  createdAt: Schema.DateFromSelf,
  updatedAt: Schema.DateFromSelf,
  slug: Schema.NullOr(Schema.String)
})
export type GrantRow = typeof GrantRow.Type

const Revoked = Schema.Struct({ families: Schema.Array(Schema.String) }).pipe(Schema.pluck("families"))

export class GrantsRepo extends Effect.Service<GrantsRepo>()("oauth/GrantsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const columns = sql`g.id, g.client_id,
      CASE g.client_id WHEN ${compositesClientId} THEN 'Composites' WHEN ${exchangeClientId} THEN 'Token exchange'
        ELSE c.client_name END AS client_name,
      g.resource, g.server_id, s.name AS server_name, g.scopes, g.created_at, g.updated_at, s.slug
      FROM oauth_grants g LEFT JOIN oauth_clients c ON c.client_id = g.client_id
        LEFT JOIN servers s ON s.id = g.server_id`

    return {
      /** Newest first. */
      page: many(GrantRow)((userId: string, after: string | undefined, count: number) =>
        sql`SELECT ${columns}
            WHERE g.user_id = ${userId} AND g.revoked_at IS NULL
              ${after === undefined ? sql`` : sql`AND g.id < ${after}`}
            ORDER BY g.id DESC LIMIT ${count}`
      ),
      find: maybe(GrantRow)((id: string, userId: string) =>
        sql`SELECT ${columns} WHERE g.id = ${id} AND g.user_id = ${userId} AND g.revoked_at IS NULL`
      ),
      /** Takes back the revocation of a grant of our own making, with a new family of tokens. */
      renew: (id: string, userId: string, familyId: string) =>
        run(sql`WITH renewed AS (
            UPDATE oauth_grants SET revoked_at = NULL, created_at = now(), updated_at = now()
            WHERE id = ${id} AND user_id = ${userId} AND client_id = ANY(${renewableClientIds}::text[])
              AND revoked_at IS NOT NULL
            RETURNING id
          )
          INSERT INTO token_families (id, grant_id, is_lasting) SELECT ${familyId}, id, true FROM renewed`),
      total: one(Count)((userId: string) =>
        sql`SELECT count(*)::int AS count FROM oauth_grants WHERE user_id = ${userId} AND revoked_at IS NULL`
      ),
      /** Revokes a user's grant with all its tokens, whose families it answers; none when there is no such grant. */
      revoke: maybe(Revoked)((id: string, userId: string) =>
        // Revoking the families revokes unused codes, too.
        sql`WITH revoked AS (
              UPDATE oauth_grants SET revoked_at = now()
              WHERE id = ${id} AND user_id = ${userId} AND revoked_at IS NULL RETURNING id
            ), families AS (
              UPDATE token_families SET revoked_at = now()
              WHERE grant_id IN (SELECT id FROM revoked) AND revoked_at IS NULL RETURNING id
            )
            SELECT ARRAY(SELECT id FROM families) AS families FROM revoked`
      )
    } as const
  })
}) {}
