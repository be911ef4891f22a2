import { prepared } from "#src/format/prepared.ts"
import { many, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

const Row = Schema.Struct({
  serverId: Schema.String,
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
export type MemberGrantRow = typeof Row.Type

interface NewGrants {
  readonly accountId: string
  readonly clientId: string
  readonly scopes: ReadonlyArray<string>
  readonly servers: ReadonlyArray<{ readonly serverId: string; readonly grantId: string; readonly familyId: string }>
}

/**
 * Grants of accounts to composites, one a server: their resource is the server's id, since its URL may change. The
 * family of tokens lives as long as the grant.
 */
export class MemberGrantsRepo extends Effect.Service<MemberGrantsRepo>()("oauth/MemberGrantsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return {
      /** Servers as an account may use them; none where either is gone. */
      find: many(Row)((accountId: string, serverIds: ReadonlyArray<string>, clientId: string) =>
        sql`${sql.literal(prepared)}
            SELECT s.id AS server_id, s.slug, s.auth_mode, s.access, s.allowed_emails, p.account_id AS owner_id, u.email,
              u.email_verified_at IS NOT NULL AS email_verified, g.id AS grant_id,
              (SELECT f.id FROM token_families f WHERE f.grant_id = g.id AND g.revoked_at IS NULL
                AND f.revoked_at IS NULL AND f.is_lasting ORDER BY f.id DESC LIMIT 1) AS family_id
            FROM servers s JOIN projects p ON p.id = s.project_id JOIN users u ON u.id = ${accountId}
              LEFT JOIN oauth_grants g ON g.user_id = u.id AND g.client_id = ${clientId} AND g.resource = s.id
            WHERE s.id = ANY(${[...serverIds]}::text[])`
      ),
      /** Of two callers at once one records it. In the order of servers, so that callers don't wait for each other. */
      grant: ({ accountId, clientId, scopes, servers }: NewGrants) =>
        run(sql`WITH there AS (
            SELECT s.id AS server_id, u.id AS user_id, asked.grant_id, asked.family_id
            FROM unnest(${servers.map(({ serverId }) => serverId)}::text[], ${
          servers.map(({ grantId }) => grantId)
        }::text[],
              ${servers.map(({ familyId }) => familyId)}::text[]) asked (server_id, grant_id, family_id)
              JOIN servers s ON s.id = asked.server_id JOIN users u ON u.id = ${accountId}
            ORDER BY s.id FOR KEY SHARE OF s, u
          ), granted AS (
            INSERT INTO oauth_grants (id, user_id, client_id, resource, server_id, scopes, redirect_uris_hash)
            SELECT grant_id, user_id, ${clientId}, server_id, server_id, ${[...scopes]}, '' FROM there
            ON CONFLICT (user_id, client_id, resource) DO NOTHING RETURNING id
          )
          INSERT INTO token_families (id, grant_id, is_lasting)
          SELECT there.family_id, granted.id, true FROM granted JOIN there ON there.grant_id = granted.id`)
    } as const
  })
}) {}
