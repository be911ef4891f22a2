import { type SqlClient } from "@effect/sql"
import { Schema } from "effect"
import { admission } from "./checks/access.ts"

/** A grant of our own making, as far as it is there. */
export const GrantStanding = Schema.Struct({
  /** Null: nothing was granted yet. */
  grantId: Schema.NullOr(Schema.String),
  /** Null: nothing was granted yet. */
  grantedScopes: Schema.NullOr(Schema.Array(Schema.String)),
  /** Null with a grant: it is revoked. */
  familyId: Schema.NullOr(Schema.String)
})
export type GrantStanding = typeof GrantStanding.Type

/** What decides whether an account may use a server by a grant of our own making. */
export const MemberStanding = Schema.Struct({
  authMode: Schema.Literal("service_managed", "byoa"),
  access: Schema.Literal("public", "owner", "list"),
  allowedEmails: Schema.Array(Schema.String),
  ownerId: Schema.String,
  email: Schema.String,
  emailVerified: Schema.Boolean,
  ...GrantStanding.fields
})
export type MemberStanding = typeof MemberStanding.Type

/** A server as an account may use it by such a grant. */
export const MemberGrantRow = Schema.Struct({
  serverId: Schema.String,
  slug: Schema.String,
  ...MemberStanding.fields
})
export type MemberGrantRow = typeof MemberGrantRow.Type

/** The columns of a grant `g`, by the names above; also for JSON, whose names are not translated. */
export const grantColumns = (sql: SqlClient.SqlClient) =>
  sql`g.id AS "grantId", g.scopes AS "grantedScopes",
    (SELECT f.id FROM token_families f WHERE f.grant_id = g.id AND g.revoked_at IS NULL
      AND f.revoked_at IS NULL AND f.is_lasting ORDER BY f.id DESC LIMIT 1) AS "familyId"`

/** The same of a server's standing. */
export const standingColumns = (sql: SqlClient.SqlClient) =>
  sql`s.auth_mode AS "authMode", s.access, s.allowed_emails AS "allowedEmails", p.account_id AS "ownerId", u.email,
    u.email_verified_at IS NOT NULL AS "emailVerified", ${grantColumns(sql)}`

/** Where they come from, for a statement that has the server as `s`; no row when the account is gone. */
export const standingOf = (sql: SqlClient.SqlClient, accountId: string, clientId: string) =>
  sql`FROM projects p JOIN users u ON u.id = ${accountId}
    LEFT JOIN oauth_grants g ON g.user_id = u.id AND g.client_id = ${clientId} AND g.resource = s.id
    WHERE p.id = s.project_id`

/** Whether the server's owner lets in the account. */
export const isAdmitted = ({ email, emailVerified, ...server }: MemberStanding, accountId: string) =>
  admission(server, { accountId, email, emailVerified }) === "admitted"

/** Whether the account's grants say already that it gives these scopes; a revoked one says why it gives none. */
export const isGranted = (standing: GrantStanding, scopes: ReadonlyArray<string>) =>
  standing.grantedScopes !== null &&
  (revokedGrant(standing) !== undefined || scopes.every((scope) => standing.grantedScopes?.includes(scope)))

/** The grant that the account has revoked, or undefined. */
export const revokedGrant = ({ familyId, grantId }: GrantStanding): string | undefined =>
  familyId === null ? grantId ?? undefined : undefined
