import { Layer } from "effect"
import { AccessTokens } from "./AccessTokens.ts"
import { Authorization } from "./Authorization.ts"
import { AuthorizationRepo } from "./AuthorizationRepo.ts"
import { OAuthClients } from "./Clients.ts"
import { ClientsRepo } from "./ClientsRepo.ts"
import { Grants } from "./Grants.ts"
import { GrantsRepo } from "./GrantsRepo.ts"
import { Introspection } from "./Introspection.ts"
import { IntrospectionRepo } from "./IntrospectionRepo.ts"
import { MemberGrantsRepo } from "./MemberGrantsRepo.ts"
import { MemberTokens } from "./MemberTokens.ts"
import { PlatformTokens } from "./PlatformTokens.ts"
import { Revocation } from "./Revocation.ts"
import { RevocationsLive } from "./RevocationListener.ts"
import { SigningKeys } from "./SigningKeys.ts"
import { SigningKeysRepo } from "./SigningKeysRepo.ts"
import { TestTokens } from "./TestTokens.ts"
import { TokenExchange } from "./TokenExchange.ts"
import { Tokens } from "./Tokens.ts"
import { TokensRepo } from "./TokensRepo.ts"

/** Checks access tokens, and hears of those that are revoked: for the gateway. */
export const TokenChecksLive = RevocationsLive.pipe(
  Layer.provideMerge(AccessTokens.Default),
  Layer.provideMerge(SigningKeys.Default),
  Layer.provide([SigningKeysRepo.Default, TokensRepo.Default])
)

/** The authorization server. It listens for revocations from the start. */
export const OAuthLive = Layer.mergeAll(
  Authorization.Default,
  Grants.Default,
  Introspection.Default,
  MemberTokens.Default,
  PlatformTokens.Default,
  Revocation.Default,
  TestTokens.Default,
  TokenExchange.Default,
  Tokens.Default
).pipe(
  Layer.provideMerge(OAuthClients.Default),
  Layer.provideMerge(TokenChecksLive),
  Layer.provide([
    AuthorizationRepo.Default,
    ClientsRepo.Default,
    GrantsRepo.Default,
    IntrospectionRepo.Default,
    MemberGrantsRepo.Default,
    TokensRepo.Default
  ])
)
