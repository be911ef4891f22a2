import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { anyScope, withPolicy } from "#src/accounts/Policy.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { allMcpScopes } from "#src/oauth/scopes/scopes.ts"
import { publicUrl } from "#src/servers/addresses.ts"
import { Servers } from "#src/servers/Servers.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Timestamp } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { AccessTokens } from "./AccessTokens.ts"

export const TestToken = Schema.Struct({
  accessToken: Schema.String.annotations({ description: "Bearer token for the server's MCP endpoint" }),
  expiresAt: Timestamp.annotations({ description: "15 minutes from now" })
}).annotations({ title: "TestToken" })

/** A server in byoa mode accepts only tokens of its own authorization server (409). */
export class TokensIssuedElsewhere extends Schema.TaggedError<TokensIssuedElsewhere>()("TokensIssuedElsewhere", {
  issuer: Schema.String
}, failsWith(409)) {
  override get message() {
    return `This server is in byoa mode: get a token from its own authorization server, ${this.issuer}`
  }
}

/** The `client_id` of tokens made by an owner, without a client (RFC 9068 requires one). */
const clientId = "berth-test-token"

/** Tokens that the owner of a server makes to try it: 15 minutes, every MCP scope, for the server's public URL. */
export class TestTokens extends Effect.Service<TestTokens>()("oauth/TestTokens", {
  effect: Effect.gen(function*() {
    const servers = yield* Servers
    const tokens = yield* AccessTokens
    const settings = yield* CurrentSettings

    const createTestToken = Effect.fn("TestTokens.createTestToken")(function*(serverId: string) {
      const { accountId, credential } = yield* CurrentActor
      const server = yield* servers.visible(serverId)
      if (server.authMode === "byoa") {
        return yield* new TokensIssuedElsewhere({ issuer: server.byoaConfig?.issuer ?? "which it does not name" })
      }
      const audience = publicUrl(settings, server.slug)
      const { expiresAt, token } = yield* tokens.mint({
        accountId,
        audience,
        scope: allMcpScopes,
        clientId,
        serverId: server.id,
        // A token made by a client is revoked with that client's grant.
        ...(credential.kind === "oauth" ? { familyId: credential.familyId } : {})
      })
      return { accessToken: token, expiresAt }
    }, withPolicy(anyScope("servers:write")))

    return { createTestToken } as const
  })
}) {}
