import { beforeAll, describe, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { compose } from "../support/composites.ts"
import { type FailureBody } from "../support/http.ts"
import { type Flow, newFlow, postForm } from "../support/oauth.ts"

const berth = useBerth()
let flow: Flow
let resource = ""
let compositeId = ""

beforeAll(async () => {
  flow = await newFlow(berth)
  resource = `${berth.url}/v1`
  compositeId = (await compose(flow.user)).id
})

const tokenFor = async (target: string, scope: string) => (await flow.tokens({ resource: target, scope })).access_token
const get = (token: string, path = "/v1/servers") => berth.request<FailureBody>("GET", path, { token })
const status = async (token: string, path?: string) => (await get(token, path)).status

describe("an access token for the API", () => {
  it("acts for its user there, within its scopes", async () => {
    const token = await tokenFor(resource, "servers:read")
    expect(await status(token)).toBe(200)
    const me = await berth.request("GET", "/v1/auth/me", { token })
    expect(me.body).toMatchObject({
      data: {
        user: { email: flow.user.email },
        credential: { type: "oauth", clientId: flow.clientId, scopes: ["servers:read"] }
      }
    })
    const refused = await berth.request<FailureBody>("POST", "/v1/projects", { token, body: { name: "Cafe" } })
    expect([refused.status, refused.body.error.message]).toEqual([403, "This token lacks the scope account"])
  })

  it("counts as a session with the scope account, but has none to log out of", async () => {
    const token = await tokenFor(resource, "account servers:read")
    expect((await berth.request("POST", "/v1/projects", { token, body: { name: "Cafe" } })).status).toBe(201)
    const refused = await berth.request<FailureBody>("POST", "/v1/auth/logout", { token })
    expect([refused.status, refused.body.error.message]).toEqual([403, expect.stringContaining("RFC 7009")])
    expect(await status(token)).toBe(200)
  })

  it("is taken where images are pushed, with the same scopes", async () => {
    const path = `/v2/${flow.project.id.toLowerCase()}/${flow.server.slug}/tags/list`
    expect(await status("a.b.c", path)).toBe(401)
    expect(await status(await tokenFor(resource, "account"), "/v2/")).toBe(200)
    // Another's project: not there, whatever the scopes are.
    expect(await status(await tokenFor(resource, "deployments:write"), path)).toBe(404)
  })

  it("is taken by the platform's own MCP endpoint, too", async () => {
    const token = await tokenFor(resource, "servers:read")
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } }
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params }
    const headers = { accept: "application/json, text/event-stream" }
    expect((await berth.request("POST", "/mcp", { token, body: initialize, headers })).status).toBe(200)
  })

  it("ends at once when it is revoked", async () => {
    const token = await tokenFor(resource, "servers:read")
    expect(await status(token)).toBe(200)
    const revoked = await postForm(berth, "/api/v1/oauth/revoke", { token, client_id: flow.clientId })
    expect(revoked.status).toBe(200)
    await expect.poll(() => status(token)).toBe(401)
  })

  it("is for the resource that the API's own document names", async () => {
    const document = await berth.request("GET", "/.well-known/oauth-protected-resource/v1")
    expect(document.body).toMatchObject({ resource, scopes_supported: expect.arrayContaining(["account"]) as unknown })
    // Clients that look at the root are MCP's.
    const root = await berth.request("GET", "/.well-known/oauth-protected-resource")
    expect(root.body).toMatchObject({ resource: `${berth.url}/mcp` })
  })
})

describe("the API refuses", () => {
  it.each([
    ["a hosted server", () => flow.server.publicUrl, "mcp:read mcp:execute"],
    ["the platform's MCP endpoint", () => `${berth.url}/mcp`, "servers:read account"],
    ["its older transport", () => `${berth.url}/sse`, "servers:read account"],
    ["a composite", () => `${berth.url}/mcp/composites/${compositeId}`, "mcp:read"]
  ])("an access token for %s", async (_what, target, scope) => {
    const token = await tokenFor(target(), scope)
    for (const path of ["/v1/servers", "/v1/auth/me", "/v2/", "/v1/hub/composites"]) {
      expect([path, await status(token, path)]).toEqual([path, 401])
    }
  })

  it("an owner's test token of a server", async () => {
    const made = await flow.owner.post<{ data: { accessToken: string } }>(
      `/v1/servers/${flow.server.id}/test-token`,
      {}
    )
    expect(made.status).toBe(201)
    expect(await status(made.body.data.accessToken)).toBe(401)
  })
})
