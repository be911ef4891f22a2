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
import { refused } from "./OAuthError.ts"
import { newRefreshToken, newSalt, successorOf } from "./refresh-token.ts"
import { type Held, TokensRepo } from "./TokensRepo.ts"

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
/** A code that comes again counts as a replay for so long after its end. */
const codesKept = Duration.toMillis("1 day")

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
      return value === undefined ? refused("invalid_request", `${name} is required`) : Effect.succeed(value)
    }

    /** A client that does not exist is told so, whatever it has: it then registers anew. */
    const notHeld = Effect.fn("Tokens.notHeld")(function*(clientId: string, what: string) {
      if (Option.isNone(yield* clients.find(clientId))) return yield* refused("invalid_client", "no such client")
      return yield* refused("invalid_grant", `the ${what} is not known, has expired, or is another client's`)
    })

    /** Whether the user may use the resource today: a server's owner may have thought otherwise since. */
    const stillAllowed = ({ email, emailVerified, server, userId }: Held) =>
      server === null || (server.authMode === "service_managed" &&
        admission(server, { accountId: userId, email, emailVerified }) === "admitted")

    /** A server's URL as it is now: what was granted at another of its addresses is for the same server. */
    const resourceOf = ({ resource, server }: Held) => server === null ? resource : publicUrl(settings, server.slug)

    /** What was granted must still hold, and the resource be the one it was granted for (it may be left out). */
    const checkHeld = Effect.fn("Tokens.checkHeld")(function*(form: URLSearchParams, held: Held) {
      if (held.revoked) return yield* refused("invalid_grant", "access was revoked")
      const asked = form.getAll("resource").filter((text) => text !== "")
      if (asked.length > 1 || asked.some((text) => nameResource(text)?.resource !== resourceOf(held))) {
        return yield* refused("invalid_target", "resource is not the one that was authorized")
      }
      if (!stillAllowed(held)) return yield* refused("invalid_grant", "the user may not use this server any more")
    })

    const respond = Effect.fn("Tokens.respond")(
      function*(held: Held, scopes: ReadonlyArray<string>, refreshToken: string | undefined) {
        const { clientId, familyId, server, userId } = held
        const scope = scopes.join(" ")
        const { token } = yield* accessTokens.mint({
          accountId: userId,
          audience: resourceOf(held),
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

    /** A thief may have made API keys with what it stole: they end with the family. */
    const replayed = Effect.fn("Tokens.replayed")(function*(what: string, { clientId, familyId }: Held) {
      const ended = Effect.zipRight(repo.revokeFamily(familyId), apiKeys.endWithFamily(familyId))
      yield* transactionally(sql)(ended)
      yield* Effect.logWarning(`A ${what} of the client ${clientId} was used twice: what came of it is revoked`)
      return yield* refused("invalid_grant", `the ${what} was used already; what came of it is revoked`)
    })

    const exchange = Effect.fn("Tokens.exchange")(function*(form: URLSearchParams) {
      const clientId = yield* required(form, "client_id")
      const code = yield* required(form, "code")
      const redirectUri = yield* required(form, "redirect_uri")
      const verifier = yield* required(form, "code_verifier")
      const codeHash = digestOf(code)
      const held = Option.getOrUndefined(yield* repo.code(codeHash))
      if (held === undefined || held.clientId !== clientId) return yield* notHeld(clientId, "code")
      if (held.usedAt !== null) return yield* replayed("code", held)
      const now = yield* Clock.currentTimeMillis
      if (held.expiresAt.getTime() <= now) return yield* notHeld(clientId, "code")
      if (held.redirectUri !== redirectUri) {
        return yield* refused("invalid_grant", "redirect_uri is not the one of the authorization request")
      }
      if (!verifierMatches(verifier, held.codeChallenge)) {
        return yield* refused("invalid_grant", "code_verifier does not fit the code_challenge")
      }
      yield* checkHeld(form, held)
      const refreshToken = held.scopes.includes(offlineAccess) ? newRefreshToken() : undefined
      const redeemed = yield* repo.redeem({
        codeHash,
        now: new Date(now),
        refresh: refreshToken === undefined
          ? null
          : { tokenHash: digestOf(refreshToken), expiresAt: new Date(now + refreshLifetime) }
      })
      return redeemed ? yield* respond(held, held.scopes, refreshToken) : yield* replayed("code", held)
    })

    /** Puts a successor in the token's place; undefined when another caller did. */
    const rotated = Effect.fn("Tokens.rotated")(function*(token: string, now: number) {
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
     * What one look at the token shows decides: its own state and its successor's are of the same moment. Who comes too
     * late to rotate it looks again, since the successor may be used by then.
     */
    const refresh = Effect.fn("Tokens.refresh")(function*(form: URLSearchParams) {
      const clientId = yield* required(form, "client_id")
      const token = yield* required(form, "refresh_token")
      for (;;) {
        const held = Option.getOrUndefined(yield* repo.refresh(digestOf(token)))
        if (held === undefined || held.clientId !== clientId) return yield* notHeld(clientId, "refresh token")
        const now = yield* Clock.currentTimeMillis
        const turn = rotationOf(held, now)
        if (turn === "replay") return yield* replayed("refresh token", held)
        if (turn === "expired") return yield* notHeld(clientId, "refresh token")
        yield* checkHeld(form, held)
        const scopes = yield* narrowedScopes(parameter(form, "scope"), held.scopes).pipe(
          Either.mapLeft((reason) => refused("invalid_scope", reason))
        )
        const successor = held.successorSalt === null
          ? yield* rotated(token, now)
          : successorOf(token, held.successorSalt)
        if (successor !== undefined) return yield* respond(held, scopes, successor)
      }
    })

    /** Answers a token request: its parameters, each at most once. */
    const issue = Effect.fn("Tokens.issue")(function*(form: URLSearchParams) {
      if (duplicated(form) !== undefined) {
        return yield* refused("invalid_request", "a parameter is there more than once")
      }
      if (provesItself(form)) {
        return yield* refused("invalid_client", "clients here have no secret: send client_id alone")
      }
      switch (yield* required(form, "grant_type")) {
        case "authorization_code":
          return yield* exchange(form)
        case "refresh_token":
          return yield* refresh(form)
        default:
          return yield* refused("unsupported_grant_type", "grant_type must be authorization_code or refresh_token")
      }
    })

    const sweep = Effect.flatMap(
      Clock.currentTimeMillis,
      (now) => repo.sweep(new Date(now), new Date(now - codesKept))
    )

    return { issue, sweep } as const
  })
}) {}
