import { decodeJwt } from "jose"
import { beforeAll, describe, expect } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { type Flow, newFlow, redirectUri } from "../support/oauth.ts"
import { row } from "./row.ts"

const berth = useBerth()
let flow: Flow
beforeAll(async () => {
  flow = await newFlow(berth)
})

const below = (publicUrl: string, path: string) => `${new URL(publicUrl).pathname}${path}`

describe("OAuth protection of hosted servers", () => {
  row(
    "GET /.well-known/oauth-protected-resource → resource, authorization_servers, scopes, bearer methods (RFC 9728)",
    async () => {
      const authority = `${flow.server.slug}.mcp.localhost`
      const answer = await berth.request("GET", "/.well-known/oauth-protected-resource", {
        headers: { host: authority }
      })
      expect([answer.status, answer.body]).toEqual([200, {
        resource: `http://${authority}:${new URL(berth.url).port}`,
        authorization_servers: [berth.url],
        scopes_supported: ["mcp:read", "mcp:write", "mcp:execute", "offline_access"],
        bearer_methods_supported: ["header"]
      }])
    }
  )

  row("GET /api/v1/oauth/authorize takes S256 only", async () => {
    expect((await flow.authorize()).searchParams.get("code")).toMatch(/^[\w-]{43}$/)
    for (const code_challenge_method of ["plain", ""]) {
      const { origin, pathname, searchParams } = await flow.authorize({ code_challenge_method })
      expect([origin + pathname, searchParams.get("error")]).toEqual([redirectUri, "invalid_request"])
    }
  })

  row("POST /api/v1/oauth/token exchanges an authorization code", async () => {
    const { body, status } = await flow.token(await flow.codeRequest())
    expect([status, body]).toEqual([200, {
      access_token: expect.any(String),
      token_type: "Bearer",
      expires_in: 15 * 60,
      refresh_token: expect.any(String),
      scope: "mcp:read mcp:write mcp:execute offline_access"
    }])
    expect(decodeJwt(body.access_token)).toMatchObject({
      iss: berth.url,
      aud: flow.server.publicUrl,
      sub: flow.user.id
    })
  })

  row("a token for one server is not valid for another", async () => {
    const other = await flow.owner.server(flow.project.id, { name: "Other" })
    const { access_token } = await flow.tokens()
    const at = async (url: string) =>
      (await berth.request("POST", below(url, "/mcp"), { token: access_token, body: {} })).status
    // Let in, a request finds that nothing is deployed yet.
    expect([await at(flow.server.publicUrl), await at(other.publicUrl)]).toEqual([503, 401])
  })

  // The last: the sessions do not live that long.
  row("an access token lives 15 minutes, a refresh token 30 days, rotated on each use", async () => {
    const { access_token, refresh_token } = await flow.tokens()
    const other = await flow.tokens()
    const isActive = async (token: string) => (await flow.introspect(token)).body.active
    berth.advance(14 * 60_000)
    expect(await isActive(access_token)).toBe(true)
    berth.advance(61_000)
    expect(await isActive(access_token)).toBe(false)
    const next = await flow.refresh(refresh_token)
    expect([next.status, next.body.expires_in, await isActive(next.body.access_token)]).toEqual([200, 15 * 60, true])
    expect(next.body.refresh_token).not.toBe(refresh_token)
    berth.advance(29 * 86_400_000)
    expect((await flow.refresh(next.body.refresh_token)).status).toBe(200)
    berth.advance(86_400_000)
    expect((await flow.refresh(other.refresh_token)).status).toBe(400)
  })
})
