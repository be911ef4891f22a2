import { maybe, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

const Row = Schema.Struct({
  slug: Schema.String,
  authMode: Schema.Literal("service_managed", "byoa"),
  access: Schema.Literal("public", "owner", "list"),
  allowedEmails: Schema.Array(Schema.String),
  ownerId: Schema.String,
  email: Schema.String,
  emailVerified: Schema.Boolean,
  /** Null: nothing was granted yet. */
  grantId: Schema.NullOr(Schema.String),
  /** Null with a grant: it is revoked. */
  familyId: Schema.NullOr(Schema.String)
})

interface NewGrant {
  readonly accountId: string
  readonly serverId: string
  readonly clientId: string
  readonly grantId: string
  readonly familyId: string
  readonly scopes: ReadonlyArray<string>
}

/**
 * Grants of accounts to composites, one a server: their resource is the server's id, since its URL may change. The
 * family of tokens lives as long as the grant.
 */
export class MemberGrantsRepo extends Effect.Service<MemberGrantsRepo>()("oauth/MemberGrantsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return {
      /** A server as an account may use it; none when either is gone. */
      find: maybe(Row)((accountId: string, serverId: string, clientId: string) =>
        sql`SELECT s.slug, s.auth_mode, s.access, s.allowed_emails, p.account_id AS owner_id, u.email,
              u.email_verified_at IS NOT NULL AS email_verified, g.id AS grant_id,
              (SELECT f.id FROM token_families f WHERE f.grant_id = g.id AND g.revoked_at IS NULL
                AND f.revoked_at IS NULL AND f.is_lasting ORDER BY f.id DESC LIMIT 1) AS family_id
            FROM servers s JOIN projects p ON p.id = s.project_id JOIN users u ON u.id = ${accountId}
              LEFT JOIN oauth_grants g ON g.user_id = u.id AND g.client_id = ${clientId} AND g.resource = s.id
            WHERE s.id = ${serverId}`
      ),
      /** Of two callers at once one records it. */
      grant: ({ accountId, clientId, familyId, grantId, scopes, serverId }: NewGrant) =>
        run(sql`WITH granted AS (
            INSERT INTO oauth_grants (id, user_id, client_id, resource, server_id, scopes, redirect_uris_hash)
            SELECT ${grantId}, u.id, ${clientId}, s.id, s.id, ${[...scopes]}, ''
            FROM servers s JOIN users u ON u.id = ${accountId} WHERE s.id = ${serverId} FOR KEY SHARE
            ON CONFLICT (user_id, client_id, resource) DO NOTHING RETURNING id
          )
          INSERT INTO token_families (id, grant_id, is_lasting) SELECT ${familyId}, id, true FROM granted`)
    } as const
  })
}) {}
