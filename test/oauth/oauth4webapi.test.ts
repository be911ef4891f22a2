import * as oauth from "oauth4webapi"
import { beforeAll, describe, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { freshAddress } from "../support/http.ts"
import { type Flow, newFlow, replayToken } from "../support/oauth.ts"
import { PlainBrowser } from "../support/pages.ts"

const berth = useBerth()
const redirectUri = "http://127.0.0.1:49152/callback"
let flow: Flow
let issuer: URL
/** Loopback is plain http; each caller has an address of its own to be counted by. */
const options = {
  [oauth.allowInsecureRequests]: true,
  get headers() {
    return { "x-forwarded-for": freshAddress() }
  }
}

beforeAll(async () => {
  flow = await newFlow(berth)
  issuer = new URL(berth.url)
})

const discover = async (algorithm: "oauth2" | "oidc" = "oauth2") =>
  oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { ...options, algorithm }))

const register = async (as: oauth.AuthorizationServer): Promise<oauth.Client> =>
  oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(as, {
      client_name: "oauth4webapi",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none"
    }, options)
  )

/** The authorization request, a user who decides, and the parameters of the answer as they came. */
const ask = async (as: oauth.AuthorizationServer, client: oauth.Client, resource: string, decision = "allow") => {
  const verifier = oauth.generateRandomCodeVerifier()
  const state = oauth.generateRandomState()
  const url = new URL(as.authorization_endpoint!)
  url.search = String(
    new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: redirectUri,
      response_type: "code",
      scope: `${new URL(resource).pathname === "/mcp" ? "servers:read" : "mcp:read mcp:execute"} offline_access`,
      resource,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256"
    })
  )
  const browser = new PlainBrowser(berth)
  browser.cookies.set("svc_session", flow.user.token)
  await browser.go(url.pathname + url.search)
  const answer = new URL((await browser.submit({ decision })).headers.get("location")!)
  return { answer, state, verifier }
}

const exchange = async (as: oauth.AuthorizationServer, client: oauth.Client, resource: string) => {
  const { answer, state, verifier } = await ask(as, client, resource)
  const parameters = oauth.validateAuthResponse(as, client, answer, state)
  const response = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    oauth.None(),
    parameters,
    redirectUri,
    verifier,
    { ...options, additionalParameters: { resource } }
  )
  return oauth.processAuthorizationCodeResponse(as, client, response)
}

const refresh = async (as: oauth.AuthorizationServer, client: oauth.Client, token: string, resource: string) =>
  oauth.processRefreshTokenResponse(
    as,
    client,
    await oauth.refreshTokenGrantRequest(as, client, oauth.None(), token, {
      ...options,
      additionalParameters: { resource }
    })
  )

/** As the server's machine asks: its replay token is the credential. */
const introspect = async (as: oauth.AuthorizationServer, client: oauth.Client, token: string) => {
  const credential = await replayToken(berth, flow.server.id)
  const asMachine: oauth.ClientAuth = (_as, _client, _body, headers) =>
    headers.set("authorization", `Bearer ${credential}`)
  const response = await oauth.introspectionRequest(as, client, asMachine, token, options)
  return oauth.processIntrospectionResponse(as, client, response)
}

const revoke = async (as: oauth.AuthorizationServer, client: oauth.Client, token: string) =>
  oauth.processRevocationResponse(await oauth.revocationRequest(as, client, oauth.None(), token, options))

/** Checks an access token by the published keys alone, as a resource server with the library would (RFC 9068 §4). */
const validate = (as: oauth.AuthorizationServer, token: string, audience: string) =>
  oauth.validateJwtAccessToken(
    as,
    new Request(audience, { headers: { authorization: `Bearer ${token}` } }),
    audience,
    options
  )

describe("oauth4webapi", () => {
  it("[1] discovers the server by OAuth's well-known URL and by OpenID's", async () => {
    for (const algorithm of ["oauth2", "oidc"] as const) {
      const as = await discover(algorithm)
      expect([as.issuer, as.code_challenge_methods_supported]).toEqual([berth.url, ["S256"]])
    }
  })

  it("[13] [14] is led from the challenge of a bare request to the resource and its authorization server", async () => {
    const { publicUrl } = flow.server
    // Whatever URL a client was given, the document is about just that (RFC 9728 §3.3).
    for (
      const resource of [publicUrl, `${publicUrl}/mcp`, `${publicUrl}/sse`, `${berth.url}/mcp`, `${berth.url}/sse`]
    ) {
      const challenged = await fetch(resource, { headers: { "x-forwarded-for": freshAddress() } })
      expect(challenged.status).toBe(401)
      const url = /resource_metadata="([^"]+)"/.exec(challenged.headers.get("www-authenticate") ?? "")?.[1]
      const identifier = new URL(resource)
      const response = await oauth.resourceDiscoveryRequest(identifier, options)
      expect(response.url).toBe(url)
      const document = await oauth.processResourceDiscoveryResponse(identifier, response)
      expect(document.authorization_servers).toEqual([berth.url])
    }
  })

  it("walks the whole flow: registration, PKCE, iss, tokens, rotation, introspection, revocation", async () => {
    const as = await discover()
    const client = await register(as)
    for (const resource of [flow.server.publicUrl, `${berth.url}/mcp`]) {
      const first = await exchange(as, client, resource)
      expect(first).toMatchObject({ token_type: "bearer", expires_in: 900 })
      const second = await refresh(as, client, first.refresh_token!, resource)
      expect(second.refresh_token).not.toBe(first.refresh_token)
      for (const { access_token } of [first, second]) {
        expect(await validate(as, access_token, resource)).toMatchObject({
          iss: berth.url,
          sub: flow.user.id,
          client_id: client.client_id,
          aud: resource
        })
      }
      // The hosted server asks about what is for it, and about nothing else.
      const hosted = resource === flow.server.publicUrl
      expect((await introspect(as, client, second.access_token)).active).toBe(hosted)
      await revoke(as, client, second.refresh_token!)
      expect(await introspect(as, client, second.access_token)).toEqual({ active: false })
      await expect(refresh(as, client, second.refresh_token!, resource)).rejects.toMatchObject({
        error: "invalid_grant",
        status: 400
      })
    }
  })

  it("is let through with the token, by header, and told invalid_token with a bad one", async () => {
    const as = await discover()
    const client = await register(as)
    const { access_token } = await exchange(as, client, `${berth.url}/mcp`)
    const call = (token: string) =>
      oauth.protectedResourceRequest(
        token,
        "POST",
        new URL(`${berth.url}/mcp`),
        new Headers({
          ...options.headers,
          "content-type": "application/json",
          accept: "application/json, text/event-stream"
        }),
        JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
        { [oauth.allowInsecureRequests]: true }
      )
    expect((await call(access_token)).status).toBe(200)
    await expect(call(`${access_token}x`)).rejects.toMatchObject({
      status: 401,
      cause: [{ scheme: "bearer", parameters: { error: "invalid_token" } }]
    })
  })

  it("reads what the user denied, by the error in the redirect", async () => {
    const as = await discover()
    const client = await register(as)
    const { answer, state } = await ask(as, client, flow.server.publicUrl, "deny")
    expect(() => oauth.validateAuthResponse(as, client, answer, state)).toThrow(oauth.AuthorizationResponseError)
    expect(answer.searchParams.get("error")).toBe("access_denied")
  })

  it("[8] mix-up: the answer of another issuer, without iss or with another state is refused by it", async () => {
    const as = await discover()
    const client = await register(as)
    const { answer, state } = await ask(as, client, flow.server.publicUrl)
    const changed = (change: (params: URLSearchParams) => void) => {
      const url = new URL(answer)
      change(url.searchParams)
      return url
    }
    const bad: ReadonlyArray<URL> = [
      changed((params) => params.set("iss", "https://attacker.example")),
      changed((params) => params.delete("iss")),
      changed((params) => params.append("iss", berth.url)),
      changed((params) => params.set("state", "other")),
      changed((params) => params.delete("state"))
    ]
    for (const url of bad) expect(() => oauth.validateAuthResponse(as, client, url, state)).toThrow()
    const other = { ...as, issuer: "https://attacker.example" }
    expect(() => oauth.validateAuthResponse(other, client, answer, state)).toThrow()
    expect(oauth.validateAuthResponse(as, client, answer, state).get("code")).not.toBeNull()
  })
})
