import { duplicated, parameter } from "#src/oauth/checks/duplicates.ts"
import { redirectKind } from "#src/oauth/checks/redirect-uri.ts"
import { provesItself } from "#src/oauth/checks/secret.ts"
import { ApiKeys } from "#src/projects/ApiKeys.ts"
import { transactionally } from "#src/shared/sql.ts"
import { digestOf } from "#src/shared/tokens.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option } from "effect"
import { AccessTokens } from "./AccessTokens.ts"
import { OAuthClients } from "./Clients.ts"
import { oauthError } from "./OAuthError.ts"
import { tellRevoked } from "./RevocationListener.ts"
import { TokensRepo } from "./TokensRepo.ts"

/** Token revocation by the client that holds the token (RFC 7009). */
export class Revocation extends Effect.Service<Revocation>()("oauth/Revocation", {
  effect: Effect.gen(function*() {
    const repo = yield* TokensRepo
    const clients = yield* OAuthClients
    const accessTokens = yield* AccessTokens
    const apiKeys = yield* ApiKeys
    const sql = yield* SqlClient.SqlClient

    /** The token's client and family; its kind is clear without `token_type_hint`. */
    const ownerOf = Effect.fn("Revocation.ownerOf")(function*(token: string) {
      const refresh = yield* repo.refresh(digestOf(token))
      if (Option.isSome(refresh)) return { clientId: refresh.value.clientId, familyId: refresh.value.familyId }
      const claims = yield* Effect.option(accessTokens.read(token))
      return Option.match(claims, {
        onNone: () => undefined,
        onSome: ({ client_id, fam }) => ({ clientId: client_id, familyId: fam })
      })
    })

    /**
     * Ends a family. The grant of a program on the user's device ends with its last family, unless a key is left of it:
     * nobody skips a consent by it (docs/decisions/tokens-for-the-api.md).
     */
    const end = Effect.fn("Revocation.end")(function*(familyId: string, clientId: string) {
      const client = Option.getOrUndefined(yield* clients.find(clientId))
      const grant = Option.getOrUndefined(yield* repo.lockGrantOf(familyId))
      yield* repo.revokeFamily(familyId)
      const asksEachTime = client?.redirectUris.every((uri) => redirectKind(uri) !== "web") === true
      if (grant === undefined || !asksEachTime || (yield* apiKeys.hasOfGrant(grant.grantId))) return
      yield* repo.endUnused(grant.grantId)
    }, transactionally(sql))

    /**
     * Revokes a token with its whole family, for an access token too, since one can't be revoked alone. An unknown or
     * expired token is not an error (§2.2); another client's token is (§2.1).
     */
    const revoke = Effect.fn("Revocation.revoke")(function*(form: URLSearchParams) {
      if (duplicated(form) !== undefined) {
        return yield* oauthError("invalid_request", "a parameter is there more than once")
      }
      if (provesItself(form)) {
        return yield* oauthError("invalid_client", "clients here have no secret: send client_id alone")
      }
      const clientId = parameter(form, "client_id")
      if (clientId === undefined) return yield* oauthError("invalid_request", "client_id is required")
      const token = parameter(form, "token")
      if (token === undefined) return yield* oauthError("invalid_request", "token is required")
      const owner = yield* ownerOf(token)
      if (owner?.clientId !== clientId) {
        if (Option.isNone(yield* clients.find(clientId))) return yield* oauthError("invalid_client", "no such client")
        return owner === undefined ? undefined : yield* oauthError("invalid_grant", "the token is another client's")
      }
      if (owner.familyId === undefined) return
      yield* end(owner.familyId, clientId)
      yield* tellRevoked(owner.familyId)
    })

    return { revoke } as const
  })
}) {}
