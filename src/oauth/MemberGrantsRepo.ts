import { prepared } from "#src/format/prepared.ts"
import { mcpScopes } from "#src/oauth/scopes/scopes.ts"
import { many, maybe, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { compositesClientId } from "./Grant.ts"
import { grantColumns, GrantStanding, MemberGrantRow, standingColumns, standingOf } from "./member-standing.ts"

interface NewGrants {
  readonly accountId: string
  readonly clientId: string
  readonly scopes: ReadonlyArray<string>
  readonly servers: ReadonlyArray<{ readonly serverId: string; readonly grantId: string; readonly familyId: string }>
}

interface NewGrant extends Omit<NewGrants, "servers"> {
  readonly resource: string
  readonly grantId: string
  readonly familyId: string
}

/**
 * Grants that accounts are not asked for, to composites and for exchanged tokens, one a server: their resource is the
 * server's id, since its URL may change; of a composite, which is not a server, it is the URL. The family of
 * tokens lives as long as the grant.
 */
export class MemberGrantsRepo extends Effect.Service<MemberGrantsRepo>()("oauth/MemberGrantsRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const standings = (accountId: string, clientId: string) =>
      sql`SELECT s.id AS server_id, s.slug, standing.* FROM servers s
          JOIN LATERAL (SELECT ${standingColumns(sql)} ${standingOf(sql, accountId, clientId)}) standing ON true`
    /** The end of an INSERT into oauth_grants, where the grant is there already. */
    const widened = sql`ON CONFLICT (user_id, client_id, resource) DO UPDATE SET updated_at = now(), scopes = ARRAY(
        SELECT known.scope FROM unnest(${[...mcpScopes]}::text[]) WITH ORDINALITY known (scope, place)
        WHERE known.scope = ANY(oauth_grants.scopes || excluded.scopes) ORDER BY known.place)
      WHERE oauth_grants.revoked_at IS NULL AND NOT oauth_grants.scopes @> excluded.scopes
      RETURNING id`
    return {
      /** Servers as an account may use them through composites; none where either is gone. */
      find: many(MemberGrantRow)((accountId: string, serverIds: ReadonlyArray<string>) =>
        sql`${sql.literal(prepared)} ${standings(accountId, compositesClientId)} WHERE s.id = ANY(${[
          ...serverIds
        ]}::text[])`
      ),
      /** One server, by its slug, as an account may use it by a grant to that client. */
      named: maybe(MemberGrantRow)((accountId: string, clientId: string, slug: string) =>
        sql`${standings(accountId, clientId)} WHERE s.slug = ${slug}`
      ),
      /**
       * Records the scopes that are given; a grant that is there gets those that it lacks, unless it is revoked. Of two
       * callers at once one makes it. In the order of servers, so that callers don't wait for each
       * other.
       */
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
            ${widened}
          )
          INSERT INTO token_families (id, grant_id, is_lasting)
          SELECT there.family_id, granted.id, true FROM granted JOIN there ON there.grant_id = granted.id`),
      /** The account's grant to that client for a resource that is not a server; none where the account is gone. */
      ofResource: maybe(GrantStanding)((accountId: string, clientId: string, resource: string) =>
        sql`SELECT ${grantColumns(sql)} FROM users u LEFT JOIN oauth_grants g
              ON g.user_id = u.id AND g.client_id = ${clientId} AND g.resource = ${resource} WHERE u.id = ${accountId}`
      ),
      /** Records the scopes that are given for it, as `grant` does. */
      grantResource: ({ accountId, clientId, familyId, grantId, resource, scopes }: NewGrant) =>
        run(sql`WITH there AS (SELECT id FROM users WHERE id = ${accountId} FOR KEY SHARE), granted AS (
            INSERT INTO oauth_grants (id, user_id, client_id, resource, scopes, redirect_uris_hash)
            SELECT ${grantId}, id, ${clientId}, ${resource}, ${[...scopes]}::text[], '' FROM there
            ${widened}
          )
          INSERT INTO token_families (id, grant_id, is_lasting)
          SELECT ${familyId}, id, true FROM granted WHERE id = ${grantId}`)
    } as const
  })
}) {}
