import { CurrentSettings } from "#src/config/Settings.ts"
import { admission } from "#src/oauth/checks/access.ts"
import { duplicated, parameter } from "#src/oauth/checks/duplicates.ts"
import { verifierMatches } from "#src/oauth/checks/pkce.ts"
import { resourceNamer } from "#src/oauth/checks/resource.ts"
import { rotationOf } from "#src/oauth/checks/rotation.ts"
import { narrowedScopes } from "#src/oauth/checks/scope.ts"
import { provesItself } from "#src/oauth/checks/secret.ts"
import { offlineAccess } from "#src/oauth/scopes/scopes.ts"
import { ApiKeys } from "#src/projects/ApiKeys.ts"
import { publicUrl } from "#src/servers/addresses.ts"
import { transactionally } from "#src/shared/sql.ts"
import { digestOf } from "#src/shared/tokens.ts"
import { SqlClient } from "@effect/sql"
import { Clock, Duration, Effect, Either, Option } from "effect"
import { AccessTokens, accessTokenSeconds } from "./AccessTokens.ts"
import { OAuthClients } from "./Clients.ts"
import { tokenExchange } from "./exchange-names.ts"
import { oauthError } from "./OAuthError.ts"
import { newRefreshToken, newSalt, successorOf } from "./refresh-token.ts"
import { tellRevoked } from "./RevocationListener.ts"
import { type TokenRow, TokensRepo } from "./TokensRepo.ts"

/** RFC 6749 §5.1. */
export interface TokenResponse {
  readonly access_token: string
  readonly token_type: "Bearer"
  readonly expires_in: number
  readonly refresh_token?: string
  /** Space-separated. */
  readonly scope: string
}

const refreshLifetime = Duration.toMillis("30 days")
/** How long after it expires a used code is kept, so that another use counts as a replay. */
const usedCodesKept = Duration.toMillis("1 day")

/** The token endpoint's rules (RFC 6749 §4.1.3 and §6, OAuth 2.1 §4.3, RFC 8707 §2.2). Clients are public. */
export class Tokens extends Effect.Service<Tokens>()("oauth/Tokens", {
  effect: Effect.gen(function*() {
    const repo = yield* TokensRepo
    const clients = yield* OAuthClients
    const accessTokens = yield* AccessTokens
    const settings = yield* CurrentSettings
    const nameResource = resourceNamer(settings)
    const apiKeys = yield* ApiKeys
    const sql = yield* SqlClient.SqlClient

    const required = (form: URLSearchParams, name: string) => {
      const value = parameter(form, name)
      return value === undefined ? oauthError("invalid_request", `${name} is required`) : Effect.succeed(value)
    }

    /** An unknown client gets `invalid_client` whatever it sends, and then registers again. */
    const rejectUnknown = Effect.fn("Tokens.notHeld")(function*(clientId: string, what: string) {
      if (Option.isNone(yield* clients.find(clientId))) return yield* oauthError("invalid_client", "no such client")
      return yield* oauthError("invalid_grant", `the ${what} is not known, has expired, or is another client's`)
    })

    /** Whether the user may use the resource now: a server's owner may have changed its access since. */
    const stillAllowed = ({ email, emailVerified, server, userId }: TokenRow) =>
      server === null || (server.authMode === "service_managed" &&
        admission(server, { accountId: userId, email, emailVerified }) === "admitted")

    /** A server's current URL: a grant made at an earlier URL is for the same server. */
    const resourceOf = ({ resource, server }: TokenRow) => server === null ? resource : publicUrl(settings, server.slug)

    /** The grant must not be revoked and the user still admitted; `resource`, if sent, must be the granted one. */
    const checkGrant = Effect.fn("Tokens.checkHeld")(function*(form: URLSearchParams, row: TokenRow) {
      if (row.revoked) return yield* oauthError("invalid_grant", "access was revoked")
      const requested = form.getAll("resource").filter((text) => text !== "")
      if (requested.length > 1 || requested.some((text) => nameResource(text)?.resource !== resourceOf(row))) {
        return yield* oauthError("invalid_target", "resource is not the one that was authorized")
      }
      if (!stillAllowed(row)) return yield* oauthError("invalid_grant", "the user may not use this server any more")
    })

    const respond = Effect.fn("Tokens.respond")(
      function*(row: TokenRow, scopes: ReadonlyArray<string>, refreshToken: string | undefined) {
        const { clientId, familyId, server, userId } = row
        const scope = scopes.join(" ")
        const { token } = yield* accessTokens.mint({
          accountId: userId,
          audience: resourceOf(row),
          clientId,
          familyId,
          scope,
          ...(server === null ? {} : { serverId: server.id })
        })
        return {
          access_token: token,
          token_type: "Bearer",
          expires_in: accessTokenSeconds,
          ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
          scope
        } satisfies TokenResponse
      }
    )

    /** A thief may have made API keys with the stolen token: they are revoked with the family. */
    const rejectReplay = Effect.fn("Tokens.replayed")(function*(what: string, { clientId, familyId }: TokenRow) {
      const revokeAll = Effect.zipRight(repo.revokeFamily(familyId), apiKeys.endWithFamily(familyId))
      yield* transactionally(sql)(revokeAll)
      yield* tellRevoked(familyId)
      yield* Effect.logWarning(`A ${what} of the client ${clientId} was used twice: what came of it is revoked`)
      return yield* oauthError("invalid_grant", `the ${what} was used already; what came of it is revoked`)
    })

    const exchange = Effect.fn("Tokens.exchange")(function*(form: URLSearchParams) {
      const clientId = yield* required(form, "client_id")
      const code = yield* required(form, "code")
      const redirectUri = yield* required(form, "redirect_uri")
      const verifier = yield* required(form, "code_verifier")
      const codeHash = digestOf(code)
      const row = Option.getOrUndefined(yield* repo.code(codeHash))
      if (row === undefined || row.clientId !== clientId) return yield* rejectUnknown(clientId, "code")
      if (row.usedAt !== null) return yield* rejectReplay("code", row)
      const now = yield* Clock.currentTimeMillis
      if (row.expiresAt.getTime() <= now) return yield* rejectUnknown(clientId, "code")
      if (row.redirectUri !== redirectUri) {
        return yield* oauthError("invalid_grant", "redirect_uri is not the one of the authorization request")
      }
      if (!verifierMatches(verifier, row.codeChallenge)) {
        return yield* oauthError("invalid_grant", "code_verifier does not fit the code_challenge")
      }
      yield* checkGrant(form, row)
      const refreshToken = row.scopes.includes(offlineAccess) ? newRefreshToken() : undefined
      const redeemed = yield* repo.redeem({
        codeHash,
        now: new Date(now),
        refresh: refreshToken === undefined
          ? null
          : { tokenHash: digestOf(refreshToken), expiresAt: new Date(now + refreshLifetime) }
      })
      return redeemed ? yield* respond(row, row.scopes, refreshToken) : yield* rejectReplay("code", row)
    })

    /** Replaces the token by a successor; undefined when another caller did so first. */
    const rotate = Effect.fn("Tokens.rotated")(function*(token: string, now: number) {
      const salt = newSalt()
      const successor = successorOf(token, salt)
      const first = yield* repo.rotate({
        tokenHash: digestOf(token),
        successorHash: digestOf(successor),
        salt,
        now: new Date(now),
        expiresAt: new Date(now + refreshLifetime)
      })
      return first ? successor : undefined
    })

    /**
     * Each decision uses one read of the token, with its own and its successor's state at the same moment. A caller
     * that loses the race to rotate it reads again, since the successor may be used by then.
     */
    const refresh = Effect.fn("Tokens.refresh")(function*(form: URLSearchParams) {
      const clientId = yield* required(form, "client_id")
      const token = yield* required(form, "refresh_token")
      for (;;) {
        const row = Option.getOrUndefined(yield* repo.refresh(digestOf(token)))
        if (row === undefined || row.clientId !== clientId) return yield* rejectUnknown(clientId, "refresh token")
        const now = yield* Clock.currentTimeMillis
        const decision = rotationOf(row, now)
        if (decision === "replay") return yield* rejectReplay("refresh token", row)
        if (decision === "expired") return yield* rejectUnknown(clientId, "refresh token")
        yield* checkGrant(form, row)
        const scopes = yield* narrowedScopes(parameter(form, "scope"), row.scopes).pipe(
          Either.mapLeft((reason) => oauthError("invalid_scope", reason))
        )
        const successor = row.successorSalt === null
          ? yield* rotate(token, now)
          : successorOf(token, row.successorSalt)
        if (successor !== undefined) return yield* respond(row, scopes, successor)
      }
    })

    /** Answers a token request: its parameters, each at most once. */
    const issue = Effect.fn("Tokens.issue")(function*(form: URLSearchParams) {
      if (duplicated(form) !== undefined) {
        return yield* oauthError("invalid_request", "a parameter is there more than once")
      }
      if (provesItself(form)) {
        return yield* oauthError("invalid_client", "clients here have no secret: send client_id alone")
      }
      switch (yield* required(form, "grant_type")) {
        case "authorization_code":
          return yield* exchange(form)
        case "refresh_token":
          return yield* refresh(form)
        default:
          return yield* oauthError(
            "unsupported_grant_type",
            `grant_type must be authorization_code, refresh_token or ${tokenExchange}`
          )
      }
    })

    const sweep = Effect.flatMap(
      Clock.currentTimeMillis,
      (now) => repo.sweep(new Date(now), new Date(now - usedCodesKept))
    )

    return { issue, sweep } as const
  })
}) {}
