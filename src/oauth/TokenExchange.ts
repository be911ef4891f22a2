import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { bySessionOrHubKey, withPolicy } from "#src/accounts/Policy.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { resourceNamer } from "#src/oauth/checks/resource.ts"
import { requestedScopes } from "#src/oauth/checks/scope.ts"
import { mcpScopes } from "#src/oauth/scopes/scopes.ts"
import { failsWith, Invalid } from "#src/shared/Failure.ts"
import { newId } from "#src/shared/ids.ts"
import { optional, Timestamp } from "#src/shared/text.ts"
import { Effect, Either, Option, Schema } from "effect"
import { AccessTokens } from "./AccessTokens.ts"
import { exchangeClientId, GrantId } from "./Grant.ts"
import { isGranted, type MemberGrantRow, revokedGrant } from "./member-standing.ts"
import { MemberGrantsRepo } from "./MemberGrantsRepo.ts"

export const exchangeFields = {
  resource: Schema.String.annotations({
    description: "The server's URL, such as a listing's mcpServerUrl; its /mcp or /sse endpoint is as good"
  }),
  scope: optional(Schema.String).annotations({
    description: `Of ${mcpScopes.join(", ")}, separated by spaces; all of them when left out`
  })
}

export interface ExchangeRequest {
  readonly resource: string
  readonly scope?: string | undefined
}

export const ExchangedToken = Schema.Struct({
  accessToken: Schema.String.annotations({ description: "Bearer token for this server alone" }),
  expiresAt: Timestamp.annotations({ description: "15 minutes from now; then exchange again" }),
  scope: Schema.String.annotations({ description: "Separated by spaces" }),
  resource: Schema.String.annotations({ description: "The server's public URL, which is the token's audience" })
}).annotations({ title: "ExchangedToken" })

/** The URL is not that of a server here. */
export class NoSuchResource extends Schema.TaggedError<NoSuchResource>()("NoSuchResource", {}, failsWith(404)) {
  override get message() {
    return "No server of this platform has this URL"
  }
}

/** The server gives no token to this credential without asking the user. */
export class NotExchangeable extends Schema.TaggedError<NotExchangeable>()("NotExchangeable", {
  reason: Schema.String
}, failsWith(403)) {
  override get message() {
    return this.reason
  }
}

/**
 * Tokens for hosted servers in exchange for a credential of the account (RFC 8693), for agents without a browser. Each is
 * for one server, as its audience says, and comes of a grant that the account sees and can revoke. Nobody is asked for
 * consent: the server lets in everybody, or is the account's own.
 */
export class TokenExchange extends Effect.Service<TokenExchange>()("oauth/TokenExchange", {
  effect: Effect.gen(function*() {
    const repo = yield* MemberGrantsRepo
    const tokens = yield* AccessTokens
    const settings = yield* CurrentSettings
    const nameResource = resourceNamer(settings)

    const standing = (accountId: string, slug: string) =>
      Effect.flatMap(
        repo.named(accountId, exchangeClientId, slug),
        Option.match({ onNone: () => new NoSuchResource(), onSome: Effect.succeed })
      )

    /** The server with its grant, which says what was given: the first exchange records it, a wider one widens it. */
    const granted = Effect.fn("TokenExchange.granted")(function*(
      accountId: string,
      row: MemberGrantRow,
      scopes: ReadonlyArray<string>
    ) {
      if (isGranted(row, scopes)) return row
      yield* repo.grant({
        accountId,
        clientId: exchangeClientId,
        scopes,
        servers: [{ serverId: row.serverId, grantId: GrantId.make(newId("gra")), familyId: newId("fam") }]
      })
      return yield* standing(accountId, row.slug)
    })

    const exchange = Effect.fn("TokenExchange.exchange")(function*({ resource, scope }: ExchangeRequest) {
      const { accountId, credential } = yield* CurrentActor
      const scopes = yield* Either.mapLeft(
        requestedScopes(scope, mcpScopes, mcpScopes),
        (message) => Invalid.field("scope", message)
      )
      const named = nameResource(resource)
      if (named?.kind !== "server") return yield* new NoSuchResource()
      const first = yield* standing(accountId, named.slug)
      if (first.authMode === "byoa") {
        return yield* new NotExchangeable({ reason: "This server takes the tokens of its own authorization server" })
      }
      const isOwn = credential.kind !== "hub" && first.ownerId === accountId
      if (first.access !== "public" && !isOwn) {
        return yield* new NotExchangeable({
          reason: "This server is not for everybody: connect to it with an MCP client, where its user signs in"
        })
      }
      const allowed = mcpScopes.filter((one) => scopes.includes(one))
      const row = yield* granted(accountId, first, allowed)
      const grantId = revokedGrant(row)
      if (grantId !== undefined) {
        return yield* new NotExchangeable({
          reason: "The account's user has revoked tokens for this server; " +
            `POST /v1/auth/grants/${grantId}/renew (the tool renew_grant) allows them again`
        })
      }
      // The account or the server went between the two statements.
      if (row.familyId === null) return yield* new NoSuchResource()
      const { expiresAt, token } = yield* tokens.mint({
        accountId,
        audience: named.resource,
        clientId: exchangeClientId,
        familyId: row.familyId,
        scope: allowed.join(" "),
        serverId: row.serverId,
        ...(credential.kind === "oauth" ? { parentFamilyId: credential.familyId } : {})
      })
      return { accessToken: token, expiresAt, scope: allowed.join(" "), resource: named.resource }
    }, withPolicy(bySessionOrHubKey))

    return { exchange } as const
  })
}) {}
