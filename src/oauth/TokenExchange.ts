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
import { AccessTokens, type MintRequest } from "./AccessTokens.ts"
import { exchangeClientId, GrantId } from "./Grant.ts"
import { type GrantStanding, isGranted, type MemberGrantRow, revokedGrant } from "./member-standing.ts"
import { MemberGrantsRepo } from "./MemberGrantsRepo.ts"

export const exchangeFields = {
  resource: Schema.String.annotations({
    description: "The URL of a server, such as a listing's mcpServerUrl, or its /mcp or /sse; or a composite's URL"
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
  accessToken: Schema.String.annotations({ description: "Bearer token for this resource alone" }),
  expiresAt: Timestamp.annotations({ description: "15 minutes from now; then exchange again" }),
  scope: Schema.String.annotations({ description: "Separated by spaces" }),
  resource: Schema.String.annotations({
    description: "The server's public URL, or the composite's, which is the token's audience"
  })
}).annotations({ title: "ExchangedToken" })

/** The URL is not that of a server here, or not that of a composite that the account may read. */
export class NoSuchResource extends Schema.TaggedError<NoSuchResource>()("NoSuchResource", {
  kind: Schema.Literal("server", "composite")
}, failsWith(404)) {
  override get message() {
    return this.kind === "server"
      ? "No server of this platform has this URL"
      : "No composite that this account may read has this URL, or it has expired"
  }
}

/** The resource gives no token to this credential without asking the user. */
export class NotExchangeable extends Schema.TaggedError<NotExchangeable>()("NotExchangeable", {
  reason: Schema.String
}, failsWith(403)) {
  override get message() {
    return this.reason
  }
}

const scopesIn = (scope: string | undefined) =>
  requestedScopes(scope, mcpScopes, mcpScopes).pipe(
    Either.map((scopes) => mcpScopes.filter((one) => scopes.includes(one))),
    Either.mapLeft((message) => Invalid.field("scope", message))
  )

const refuseRevoked = (standing: GrantStanding) => {
  const grantId = revokedGrant(standing)
  return grantId === undefined ? Effect.void : new NotExchangeable({
    reason: "The account's user has revoked tokens for this resource; " +
      `POST /v1/auth/grants/${grantId}/renew (the tool renew_grant) allows them again`
  })
}

/**
 * Tokens for hosted servers in exchange for a credential of the account (RFC 8693), for agents without a browser. Each is
 * for one resource, as its audience says, and comes of a grant that the account sees and can revoke. Nobody is asked for
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
        Option.match({ onNone: () => new NoSuchResource({ kind: "server" }), onSome: Effect.succeed })
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

    const issue = Effect.fnUntraced(function*(
      resource: string,
      familyId: string,
      scopes: ReadonlyArray<string>,
      more: Pick<MintRequest, "serverId" | "forEverybody">
    ) {
      const { accountId, credential } = yield* CurrentActor
      const scope = scopes.join(" ")
      const { expiresAt, token } = yield* tokens.mint({
        accountId,
        audience: resource,
        clientId: exchangeClientId,
        familyId,
        scope,
        ...more,
        ...(credential.kind === "oauth" ? { parentFamilyId: credential.familyId } : {})
      })
      return { accessToken: token, expiresAt, scope, resource }
    })

    const exchange = Effect.fn("TokenExchange.exchange")(function*({ resource, scope }: ExchangeRequest) {
      const { accountId, credential } = yield* CurrentActor
      const allowed = yield* scopesIn(scope)
      const named = nameResource(resource)
      if (named?.kind !== "server") return yield* new NoSuchResource({ kind: "server" })
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
      const row = yield* granted(accountId, first, allowed)
      yield* refuseRevoked(row)
      // The account or the server went between the two statements.
      if (row.familyId === null) return yield* new NoSuchResource({ kind: "server" })
      return yield* issue(named.resource, row.familyId, allowed, { serverId: row.serverId })
    }, withPolicy(bySessionOrHubKey))

    /** For a composite, by its canonical URL, which the caller may read. */
    const forComposite = Effect.fn("TokenExchange.forComposite")(function*({ resource, scope }: ExchangeRequest) {
      const { accountId, credential } = yield* CurrentActor
      const scopes = yield* scopesIn(scope)
      const standing = repo.ofResource(accountId, exchangeClientId, resource)
      const first = yield* standing
      if (Option.isSome(first) && !isGranted(first.value, scopes)) {
        const ids = { grantId: GrantId.make(newId("gra")), familyId: newId("fam") }
        yield* repo.grantResource({ accountId, clientId: exchangeClientId, resource, scopes, ...ids })
      }
      const row = Option.getOrUndefined(yield* standing)
      if (row !== undefined) yield* refuseRevoked(row)
      const familyId = row?.familyId ?? null
      if (familyId === null) return yield* new NoSuchResource({ kind: "composite" })
      return yield* issue(resource, familyId, scopes, { forEverybody: credential.kind === "hub" })
    })

    return { exchange, forComposite } as const
  })
}) {}
