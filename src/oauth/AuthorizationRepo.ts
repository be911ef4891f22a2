import { dieOnSql, foreignKeyViolation, many, maybe, one } from "#src/shared/sql.ts"
import { SqlClient, SqlSchema } from "@effect/sql"
import { Effect, Predicate, Schema } from "effect"

/** What the consent page needs of a hosted server. */
const TargetRow = Schema.Struct({
  serverId: Schema.String,
  name: Schema.String,
  slug: Schema.String,
  authMode: Schema.Literal("service_managed", "byoa"),
  access: Schema.Literal("public", "owner", "list"),
  allowedEmails: Schema.Array(Schema.String),
  ownerId: Schema.String
})
export type TargetRow = typeof TargetRow.Type

/** What it needs of a composite: a private one is its account's, and a public one lets in everybody. */
const CompositeTarget = Schema.Struct({
  name: Schema.String,
  access: Schema.Literal("public", "owner"),
  ownerId: Schema.String
})

const Consent = Schema.Struct({ scopes: Schema.Array(Schema.String), redirectUrisHash: Schema.Uint8ArrayFromSelf })

const GrantKey = Schema.Struct({
  userId: Schema.String,
  clientId: Schema.String,
  /** A server is matched by its id as well: its URL may have changed since access was granted. */
  resource: Schema.String,
  serverId: Schema.NullOr(Schema.String)
})

interface Trust {
  readonly userId: string
  readonly clientId: string
  readonly redirectUrisHash: Uint8Array
}

const Approval = Schema.Struct({
  ...GrantKey.fields,
  grantId: Schema.String,
  scopes: Schema.Array(Schema.String),
  redirectUrisHash: Schema.Uint8ArrayFromSelf,
  familyId: Schema.String,
  codeHash: Schema.Uint8ArrayFromSelf,
  redirectUri: Schema.String,
  codeChallenge: Schema.String,
  expiresAt: Schema.DateFromSelf
})

export class AuthorizationRepo extends Effect.Service<AuthorizationRepo>()("oauth/AuthorizationRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const bindings = many(Schema.Struct({ slug: Schema.String }).pipe(Schema.pluck("slug")))((clientId: string) =>
      sql`SELECT s.slug FROM server_clients c JOIN servers s ON s.id = c.server_id
            WHERE c.client_id = ${clientId} LIMIT 2`
    )
    const grantsOf = ({ clientId, resource, serverId, userId }: typeof GrantKey.Type) =>
      sql`oauth_grants WHERE user_id = ${userId} AND client_id = ${clientId}
        AND (resource = ${resource} OR server_id = ${serverId})`
    // Earlier scopes stay granted, unless the grant was revoked or the client's redirects have changed.
    const approve = SqlSchema.findAll({
      Request: Approval,
      Result: Schema.Struct({ grantId: Schema.String }),
      execute: (row) =>
        sql`WITH granted AS (
              INSERT INTO oauth_grants AS g (id, user_id, client_id, resource, server_id, scopes, redirect_uris_hash)
              VALUES (${row.grantId}, ${row.userId}, ${row.clientId}, COALESCE((
                  SELECT resource FROM ${grantsOf(row)} ORDER BY revoked_at IS NOT NULL, updated_at DESC LIMIT 1
                ), ${row.resource}), ${row.serverId}, ${[...row.scopes]}, ${row.redirectUrisHash})
              ON CONFLICT (user_id, client_id, resource) DO UPDATE SET
                scopes = CASE
                  WHEN g.revoked_at IS NULL AND g.redirect_uris_hash = excluded.redirect_uris_hash
                  THEN ARRAY(SELECT DISTINCT unnest(g.scopes || excluded.scopes) ORDER BY 1)
                  ELSE excluded.scopes END,
                redirect_uris_hash = excluded.redirect_uris_hash,
                created_at = CASE WHEN g.revoked_at IS NULL THEN g.created_at ELSE now() END,
                updated_at = now(), revoked_at = NULL
              RETURNING id
            ), family AS (
              INSERT INTO token_families (id, grant_id) SELECT ${row.familyId}, id FROM granted RETURNING id, grant_id
            )
            INSERT INTO authorization_codes
              (code_hash, family_id, client_id, redirect_uri, resource, scopes, code_challenge, expires_at)
            SELECT ${row.codeHash}, id, ${row.clientId}, ${row.redirectUri}, ${row.resource}, ${[
          ...row.scopes
        ]}::text[],
              ${row.codeChallenge}, ${row.expiresAt}::timestamptz FROM family
            RETURNING (SELECT grant_id FROM family)`
    })

    return {
      target: maybe(TargetRow)((slug: string) =>
        sql`SELECT s.id AS server_id, s.name, s.slug, s.auth_mode, s.access, s.allowed_emails, p.account_id AS owner_id
            FROM servers s JOIN projects p ON p.id = s.project_id WHERE s.slug = ${slug}`
      ),
      composite: maybe(CompositeTarget)((id: string, at: Date) =>
        sql`SELECT name, CASE visibility WHEN 'public' THEN 'public' ELSE 'owner' END AS access,
              coalesce(user_id, '') AS owner_id
            FROM composites WHERE id = ${id} AND (expires_at IS NULL OR expires_at > ${at})`
      ),
      /** The slug of the server that a client was pre-registered for, when there is exactly one. */
      soleBinding: (clientId: string) =>
        Effect.map(bindings(clientId), (slugs) => slugs.length === 1 ? slugs[0] : undefined),
      consent: maybe(Consent)((key: typeof GrantKey.Type) =>
        sql`SELECT scopes, redirect_uris_hash FROM ${grantsOf(key)} AND revoked_at IS NULL
            ORDER BY updated_at DESC LIMIT 1`
      ),
      /** Whether the user has an unrevoked consent to the client with these redirects, for any resource. */
      hasConsented: one(Schema.Struct({ trusted: Schema.Boolean }).pipe(Schema.pluck("trusted")))((
        { clientId, redirectUrisHash, userId }: Trust
      ) =>
        sql`SELECT EXISTS (SELECT FROM oauth_grants WHERE user_id = ${userId} AND client_id = ${clientId}
              AND redirect_uris_hash = ${redirectUrisHash} AND revoked_at IS NULL) AS trusted`
      ),
      /** Records the consent and its code; false when the user or the server no longer exists. */
      approve: (approval: typeof Approval.Type) =>
        approve(approval).pipe(
          Effect.map((rows) => rows.length === 1),
          Effect.catchIf(
            (error) => Predicate.isTagged(error, "SqlError") && foreignKeyViolation(error) !== undefined,
            () => Effect.succeed(false)
          ),
          dieOnSql
        )
    } as const
  })
}) {}
