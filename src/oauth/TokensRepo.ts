import { anyRow, many, maybe, run } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"

/** The columns that codes and refresh tokens share: the grant, its user and its server. */
const TokenRow = Schema.Struct({
  familyId: Schema.String,
  clientId: Schema.String,
  resource: Schema.String,
  scopes: Schema.Array(Schema.String),
  /** Of the token or code itself. */
  expiresAt: Schema.DateFromSelf,
  /** Whether its family or its grant was revoked. */
  revoked: Schema.Boolean,
  userId: Schema.String,
  email: Schema.String,
  emailVerified: Schema.Boolean,
  /** The server that is the resource, as it is now; null for Berth's own MCP endpoint. */
  server: Schema.NullOr(Schema.Struct({
    id: Schema.String,
    slug: Schema.String,
    authMode: Schema.Literal("service_managed", "byoa"),
    access: Schema.Literal("public", "owner", "list"),
    allowedEmails: Schema.Array(Schema.String),
    ownerId: Schema.String
  }))
})
export type TokenRow = typeof TokenRow.Type

const CodeRow = Schema.Struct({
  ...TokenRow.fields,
  redirectUri: Schema.String,
  codeChallenge: Schema.String,
  usedAt: Schema.NullOr(Schema.DateFromSelf)
})
export type CodeRow = typeof CodeRow.Type

const RefreshRow = Schema.Struct({
  ...TokenRow.fields,
  rotatedAt: Schema.NullOr(Schema.DateFromSelf),
  successorSalt: Schema.NullOr(Schema.Uint8ArrayFromSelf),
  successorUsed: Schema.Boolean
})
export type RefreshRow = typeof RefreshRow.Type

interface Redemption {
  readonly codeHash: Uint8Array
  readonly now: Date
  /** Null: no refresh token is issued. */
  readonly refresh: { readonly tokenHash: Uint8Array; readonly expiresAt: Date } | null
}
interface Rotation {
  readonly tokenHash: Uint8Array
  readonly successorHash: Uint8Array
  readonly salt: Uint8Array
  readonly now: Date
  readonly expiresAt: Date
}

/** Each change is one atomic statement that succeeds for only one of several callers; no lock is held across calls. */
export class TokensRepo extends Effect.Service<TokensRepo>()("oauth/TokensRepo", {
  effect: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const grantColumns = sql`t.family_id, t.client_id, t.resource, t.scopes, t.expires_at,
      (f.revoked_at IS NOT NULL OR g.revoked_at IS NOT NULL) AS revoked, g.user_id, u.email,
      u.email_verified_at IS NOT NULL AS email_verified,
      CASE WHEN s.id IS NULL THEN NULL ELSE json_build_object('id', s.id, 'slug', s.slug, 'authMode', s.auth_mode,
        'access', s.access, 'allowedEmails', s.allowed_emails, 'ownerId', p.account_id) END AS server`
    const grantJoins = sql`JOIN token_families f ON f.id = t.family_id JOIN oauth_grants g ON g.id = f.grant_id
      JOIN users u ON u.id = g.user_id
      LEFT JOIN servers s ON s.id = g.server_id LEFT JOIN projects p ON p.id = s.project_id`

    return {
      code: maybe(CodeRow)((hash: Uint8Array) =>
        sql`SELECT ${grantColumns}, t.redirect_uri, t.code_challenge, t.used_at FROM authorization_codes t ${grantJoins}
            WHERE t.code_hash = ${hash}`
      ),
      refresh: maybe(RefreshRow)((hash: Uint8Array) =>
        sql`SELECT ${grantColumns}, t.rotated_at, t.successor_salt, (t.rotated_at IS NOT NULL AND EXISTS (
              SELECT FROM refresh_tokens n
              WHERE n.family_id = t.family_id AND n.generation > t.generation AND n.rotated_at IS NOT NULL
            )) AS successor_used
            FROM refresh_tokens t ${grantJoins} WHERE t.token_hash = ${hash}`
      ),
      /** Marks a code as used and stores its first refresh token; false when it was already used or is gone. */
      redeem: ({ codeHash, now, refresh }: Redemption) => {
        const used = sql`UPDATE authorization_codes SET used_at = ${now}
          WHERE code_hash = ${codeHash} AND used_at IS NULL RETURNING family_id, client_id, resource, scopes`
        return anyRow(
          refresh === null ? sql`WITH used AS (${used}) SELECT family_id FROM used` : sql`WITH used AS (${used})
            INSERT INTO refresh_tokens (token_hash, family_id, client_id, resource, scopes, generation, expires_at)
            SELECT ${refresh.tokenHash}, family_id, client_id, resource, scopes, 0, ${refresh.expiresAt}::timestamptz
            FROM used RETURNING family_id`
        )
      },
      /** Replaces a refresh token by its successor; false when another caller did so first, or it is gone. */
      rotate: ({ expiresAt, now, salt, successorHash, tokenHash }: Rotation) =>
        anyRow(
          sql`WITH rotated AS (
              UPDATE refresh_tokens SET rotated_at = ${now}, successor_salt = ${salt}
              WHERE token_hash = ${tokenHash} AND rotated_at IS NULL
              RETURNING family_id, client_id, resource, scopes, generation
            )
            INSERT INTO refresh_tokens (token_hash, family_id, client_id, resource, scopes, generation, expires_at)
            SELECT ${successorHash}, family_id, client_id, resource, scopes, generation + 1, ${expiresAt}::timestamptz
            FROM rotated RETURNING family_id`
        ),
      revokeFamily: (familyId: string) =>
        run(sql`UPDATE token_families SET revoked_at = now() WHERE id = ${familyId} AND revoked_at IS NULL`),
      /** The grant of a family, which no consent and no new key changes until the transaction ends. */
      lockGrantOf: maybe(Schema.Struct({ grantId: Schema.String }))((familyId: string) =>
        sql`SELECT g.id AS grant_id FROM oauth_grants g JOIN token_families f ON f.grant_id = g.id
            WHERE f.id = ${familyId} FOR UPDATE OF g`
      ),
      /** Ends a grant that no token comes of any more. */
      endUnused: (grantId: string) =>
        run(sql`UPDATE oauth_grants SET revoked_at = now() WHERE id = ${grantId} AND revoked_at IS NULL
            AND NOT EXISTS (SELECT FROM token_families WHERE grant_id = ${grantId} AND revoked_at IS NULL)`),
      /** The families revoked in the last `seconds`. */
      revokedWithin: many(Schema.Struct({ id: Schema.String }).pipe(Schema.pluck("id")))((seconds: number) =>
        sql`SELECT id FROM token_families WHERE revoked_at > now() - make_interval(secs => ${seconds})
            ORDER BY revoked_at`
      ),
      /**
       * Deletes expired refresh tokens, codes that expired before `codesBefore`, families without either, and then the grants
       * of programs on their users' devices (RFC 8252 §7.3) that have neither a family nor a key.
       */
      sweep: (now: Date, codesBefore: Date) =>
        run(sql`DELETE FROM authorization_codes WHERE expires_at < ${codesBefore}`.pipe(
          Effect.zipRight(sql`DELETE FROM refresh_tokens WHERE expires_at < ${now}`),
          Effect.zipRight(sql`DELETE FROM token_families f
          WHERE (NOT f.is_lasting OR f.revoked_at < ${codesBefore})
            AND NOT EXISTS (SELECT FROM authorization_codes c WHERE c.family_id = f.id)
            AND NOT EXISTS (SELECT FROM refresh_tokens r WHERE r.family_id = f.id)`),
          // One that is approved again at this moment is known by its time.
          Effect.zipRight(sql`DELETE FROM oauth_grants g USING oauth_clients c
          WHERE c.client_id = g.client_id AND g.updated_at < now() - interval '1 day'
            AND NOT EXISTS (SELECT FROM token_families f WHERE f.grant_id = g.id)
            AND NOT EXISTS (SELECT FROM api_keys k WHERE k.grant_id = g.id)
            AND NOT EXISTS (SELECT FROM unnest(c.redirect_uris) AS uri
              WHERE uri !~ '^http://(127[.]0[.]0[.]1|[[]::1[]]|localhost)([:/?]|$)')`)
        ))
    } as const
  })
}) {}
