import { Accounts } from "#src/accounts/Accounts.ts"
import { AccountsRepo } from "#src/accounts/AccountsRepo.ts"
import { Attempts } from "#src/accounts/Attempts.ts"
import { AttemptsRepo } from "#src/accounts/AttemptsRepo.ts"
import { Passwords } from "#src/accounts/Passwords.ts"
import { Authorization } from "#src/oauth/Authorization.ts"
import { AuthorizationRepo } from "#src/oauth/AuthorizationRepo.ts"
import { OAuthClients } from "#src/oauth/Clients.ts"
import { Grants } from "#src/oauth/Grants.ts"
import { GrantsRepo } from "#src/oauth/GrantsRepo.ts"
import { Introspection } from "#src/oauth/Introspection.ts"
import { IntrospectionRepo } from "#src/oauth/IntrospectionRepo.ts"
import { Revocation } from "#src/oauth/Revocation.ts"
import { type TokenResponse, Tokens } from "#src/oauth/Tokens.ts"
import { TokensRepo } from "#src/oauth/TokensRepo.ts"
import { ApiKeys } from "#src/projects/ApiKeys.ts"
import { ApiKeysRepo } from "#src/projects/ApiKeysRepo.ts"
import { Effect, Layer } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { clientsTest } from "./clients.ts"

/** The authorization server without its pages, on a database of its own. The clock is the test's. */
export const authorizationTest = Layer.mergeAll(
  Authorization.Default,
  Grants.Default,
  Introspection.Default,
  Revocation.Default,
  Tokens.Default
).pipe(
  Layer.provide([
    ApiKeys.Default,
    AuthorizationRepo.Default,
    GrantsRepo.Default,
    IntrospectionRepo.Default,
    TokensRepo.Default,
    Accounts.Default
  ]),
  Layer.provide([
    AccountsRepo.Default,
    ApiKeysRepo.Default,
    Layer.provide(Attempts.Default, AttemptsRepo.Default),
    Passwords.Default
  ]),
  Layer.provideMerge(clientsTest)
)

export const web = "https://client.example/callback"
export const loopback = "http://localhost/callback"
export const app = "com.example.editor:/callback"

/** A client that registered itself. */
export const newClient = (
  redirect_uris: ReadonlyArray<string> = [web],
  fields: Readonly<Record<string, unknown>> = {}
) =>
  Effect.flatMap(OAuthClients, (clients) => clients.register({ redirect_uris, client_name: "Editor", ...fields }))
    .pipe(Effect.map(({ client_id }) => client_id))

export const newPkce = () => {
  const verifier = randomBytes(32).toString("base64url")
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") }
}

export type Fields = Readonly<Record<string, string | undefined>>

export const form = (fields: Fields) =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]): Array<[string, string]> =>
      value === undefined ? [] : [[name, value]]
    )
  )

/** The query that the parameters of a redirect make. */
export const answered = (redirect: string) => Object.fromEntries(new URL(redirect).searchParams)

export const issuer = "http://berth.test"
export const scope = "mcp:read mcp:write mcp:execute offline_access"

interface Asked {
  readonly userId: string
  readonly resource: string
  readonly clientId?: string
  readonly scope?: string
  readonly redirectUri?: string
}

/** An authorization that its user approved, up to the code. */
export const authorized = Effect.fnUntraced(function*(asked: Asked) {
  const authorization = yield* Authorization
  const clientId = asked.clientId ?? (yield* newClient())
  const redirectUri = asked.redirectUri ?? web
  const { challenge, verifier } = newPkce()
  const request = yield* authorization.examine(form({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    resource: asked.resource,
    scope: asked.scope ?? scope,
    state: "s",
    code_challenge: challenge,
    code_challenge_method: "S256"
  }))
  const { code = "" } = answered(yield* authorization.approve(request, asked.userId, request.scopes))
  return {
    clientId,
    code,
    verifier,
    /** The token request that fits. */
    exchange: {
      grant_type: "authorization_code",
      client_id: clientId,
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      resource: asked.resource
    }
  }
})

export const issue = (fields: Fields): Effect.Effect<TokenResponse, unknown, Tokens> =>
  Effect.flatMap(Tokens, (tokens) => tokens.issue(form(fields)))

/** The code of the error that a token request is refused with. */
export const refusal = (fields: Fields) =>
  Effect.flatMap(Tokens, (tokens) => Effect.flip(tokens.issue(form(fields)))).pipe(Effect.map(({ error }) => error))

export const refreshing = (clientId: string, refreshToken: string | undefined, fields: Fields = {}) => ({
  grant_type: "refresh_token",
  client_id: clientId,
  refresh_token: refreshToken,
  ...fields
})
