import { hasScreen, startBrowser } from "#src/cli/browser.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { Effect } from "effect"
import { hostname } from "node:os"
import * as oauth from "oauth4webapi"
import { findServer, type Found, noSecret, refusal, requestTo, talk } from "./authorization-server.ts"
import { type BrowserLogin } from "./credentials.ts"
import { type Answer, listen, registeredRedirect } from "./loopback.ts"
import { serverOf, tokensIn } from "./renew.ts"

/** The machine, by which the user tells one login from another where they are listed. */
const clientName = () => `Berth command line on ${hostname().replace(/[^\w.-]/g, "") || "a computer"}`

/** A client of its own for each login (RFC 7591), which is revoked and forgotten with it. */
const register = ({ scopes, server }: Found) =>
  talk(server.issuer, async () => {
    const metadata = {
      client_name: clientName(),
      redirect_uris: [registeredRedirect],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      scope: scopes.join(" ")
    }
    const response = await oauth.dynamicClientRegistrationRequest(server, metadata, requestTo(server.issuer))
    return oauth.processDynamicClientRegistrationResponse(response)
  })

const pageOf = ({ page, resource, scopes }: Found, fields: Readonly<Record<string, string>>) => {
  const url = new URL(page)
  const all = { response_type: "code", resource, scope: scopes.join(" "), code_challenge_method: "S256", ...fields }
  for (const [name, value] of Object.entries(all)) url.searchParams.set(name, value)
  return url.href
}

interface Asked {
  readonly client: oauth.Client
  readonly redirectUri: string
  readonly state: string
  readonly verifier: string
}

/** The code of an answer in exchange for tokens (RFC 6749 §4.1.3), once the answer is its server's (RFC 9207). */
const redeem = Effect.fn("cli.redeem")(
  function*(
    { resource, server }: Found,
    { client, redirectUri, state, verifier }: Asked,
    { parameters, show }: Answer
  ) {
    const error = parameters.get("error")
    if (error === "access_denied") {
      show("denied")
      return yield* refusal("You did not allow it in the browser: nobody was logged in", exitCodes.notLetIn)
    }
    if (error !== null) {
      const said = parameters.get("error_description") ?? error
      return yield* refusal(`${server.issuer} refused the login: ${said}`, exitCodes.notLetIn)
    }
    return yield* talk(server.issuer, async () => {
      const checked = oauth.validateAuthResponse(server, client, parameters, state)
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        noSecret,
        checked,
        redirectUri,
        verifier,
        { additionalParameters: { resource }, ...requestTo(server.issuer) }
      )
      return oauth.processAuthorizationCodeResponse(server, client, response)
    })
  }
)

/** Says where to go, and whether the browser is there already. */
export type Tell = (
  told: { readonly page: string; readonly port: number; readonly opened: boolean }
) => Effect.Effect<void>

/**
 * Logs in by the authorization server's page (OAuth 2.1 with PKCE, RFC 8252). `keep` is done before the browser shows that
 * it worked.
 */
export const byBrowser = <A, E, R>(root: string, tell: Tell, keep: (login: BrowserLogin) => Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const found = yield* findServer(root)
    const state = oauth.generateRandomState()
    const verifier = oauth.generateRandomCodeVerifier()
    const { answer, port, redirectUri } = yield* listen(state)
    const client = yield* register(found)
    const page = pageOf(found, {
      client_id: client.client_id,
      redirect_uri: redirectUri,
      state,
      code_challenge: yield* Effect.promise(() => oauth.calculatePKCECodeChallenge(verifier))
    })
    yield* tell({ page, port, opened: (yield* hasScreen) && (yield* startBrowser(page)) })
    const arrived = yield* answer
    const { server } = found
    return yield* Effect.gen(function*() {
      const tokens = yield* tokensIn(yield* redeem(found, { client, redirectUri, state, verifier }, arrived))
      const { revocation_endpoint, token_endpoint } = server
      if (token_endpoint === undefined) return yield* refusal(`${server.issuer} has no token endpoint`)
      const login: BrowserLogin = {
        issuer: server.issuer,
        tokenEndpoint: token_endpoint,
        ...(revocation_endpoint === undefined ? {} : { revocationEndpoint: revocation_endpoint }),
        clientId: client.client_id,
        ...tokens
      }
      // What is not kept must not stay at the server, where nobody would miss it.
      const kept = yield* Effect.onError(keep(login), () => revoke(login))
      arrived.show("loggedIn")
      return kept
    }).pipe(Effect.tapErrorCause(() => Effect.sync(() => arrived.show("failed"))))
  }).pipe(Effect.scoped)

/** Ends a browser's login at its server (RFC 7009); false when that does not answer. */
export const revoke = (login: BrowserLogin) => {
  const { accessToken, clientId, refreshToken = accessToken, revocationEndpoint } = login
  if (revocationEndpoint === undefined) return Effect.succeed(false)
  return Effect.tryPromise(async () =>
    oauth.processRevocationResponse(
      await oauth.revocationRequest(
        serverOf(login),
        { client_id: clientId },
        noSecret,
        refreshToken,
        requestTo(revocationEndpoint)
      )
    )
  ).pipe(Effect.isSuccess)
}
