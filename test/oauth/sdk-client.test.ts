import { auth, type OAuthClientProvider, UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js"
import { Client as McpClient } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type OAuthClientInformationMixed, type OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { decodeJwt } from "jose"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { compose } from "../support/composites.ts"
import { LiveMembers } from "../support/live-members.ts"
import { startMember, type TestMember } from "../support/mcp-member.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { type Flow, newFlow } from "../support/oauth.ts"
import { PlainBrowser } from "../support/pages.ts"

const live = new LiveMembers()
const berth = useBerth({ machines: live.machines })
let flow: Flow
beforeAll(async () => {
  flow = await newFlow(berth)
})

/** A client as the SDK has it, that knows nothing but a URL. */
class Client implements OAuthClientProvider {
  readonly redirectUrl = "http://localhost:33418/callback"
  readonly clientMetadata = {
    client_name: "SDK client",
    redirect_uris: [this.redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none"
  }
  information: OAuthClientInformationMixed | undefined
  kept: OAuthTokens | undefined
  verifier = ""
  sentTo: URL | undefined

  state = () => "sdk-state"
  clientInformation = () => this.information
  saveClientInformation = (information: OAuthClientInformationMixed) => void (this.information = information)
  tokens = () => this.kept
  saveTokens = (tokens: OAuthTokens) => void (this.kept = tokens)
  redirectToAuthorization = (url: URL) => void (this.sentTo = url)
  saveCodeVerifier = (verifier: string) => void (this.verifier = verifier)
  codeVerifier = () => this.verifier
}

/** What a user's browser does with the page it is sent to. */
const approve = async (url: URL) => {
  const browser = new PlainBrowser(berth)
  browser.cookies.set("svc_session", flow.user.token)
  await browser.go(url.pathname + url.search)
  return new URL((await browser.submit({ decision: "allow" })).headers.get("location")!).searchParams
}

describe("the MCP SDK's own client, from nothing but a URL", () => {
  for (const where of ["a hosted server", "our own MCP door"]) {
    it(`registers, asks, exchanges and refreshes for ${where}`, async () => {
      const client = new Client()
      const resource = where === "a hosted server" ? flow.server.publicUrl : `${berth.url}/mcp`
      const serverUrl = where === "a hosted server" ? `${resource}/mcp` : resource
      expect(await auth(client, { serverUrl })).toBe("REDIRECT")
      const answer = await approve(client.sentTo!)
      expect([answer.get("state"), answer.get("iss")]).toEqual(["sdk-state", berth.url])
      expect(await auth(client, { serverUrl, authorizationCode: answer.get("code")! })).toBe("AUTHORIZED")
      const first = client.kept!
      expect(decodeJwt(first.access_token)).toMatchObject({ aud: resource, sub: flow.user.id })
      expect(first.refresh_token).toBeDefined()
      expect(await auth(client, { serverUrl })).toBe("AUTHORIZED")
      expect(client.kept!.refresh_token).not.toBe(first.refresh_token)
    })
  }

  const transports = {
    "Streamable HTTP": (authProvider: Client) =>
      new StreamableHTTPClientTransport(new URL(`${berth.url}/mcp`), { authProvider }),
    SSE: (authProvider: Client) => new SSEClientTransport(new URL(`${berth.url}/sse`), { authProvider })
  } as const

  it.each(["Streamable HTTP", "SSE"] as const)(
    "asks over %s for the scopes of the 401 alone, and needs no browser when its access token has expired",
    async (way) => {
      const provider = new Client()
      const first = transports[way](provider)
      await expect(new McpClient({ name: "sdk", version: "1" }).connect(first as Transport)).rejects.toThrow(
        UnauthorizedError
      )
      const asked = provider.sentTo!.searchParams.get("scope")!.split(" ")
      expect(asked).toContain("servers:read")
      expect(asked).not.toContain("offline_access")
      await first.finishAuth((await approve(provider.sentTo!)).get("code")!)
      const { access_token, refresh_token, scope } = provider.kept!
      // RFC 6749 §5.1: what was granted is told, as it is more than was asked for.
      expect(new Set(scope?.split(" "))).toEqual(new Set([...asked, "offline_access"]))

      const client = new McpClient({ name: "sdk", version: "1" })
      await client.connect(transports[way](provider) as Transport)
      provider.sentTo = undefined
      for (let round = 1; round <= 2; round++) {
        berth.advance(16 * 60_000)
        expect(await client.callTool({ name: "list_projects", arguments: {} })).not.toHaveProperty("isError", true)
      }
      expect(provider.sentTo).toBeUndefined()
      expect(provider.kept!.access_token).not.toBe(access_token)
      expect(provider.kept!.refresh_token).not.toBe(refresh_token)
      await client.close()
    }
  )
})

describe("the SDK's client at a composite", () => {
  const servers: Array<TestMember> = []
  let paths: ReadonlyArray<string> = []
  beforeAll(async () => {
    const listing_ids: Array<string> = []
    const inputSchema = { type: "object" as const, properties: {} }
    for (const name of ["ada", "ben"]) {
      const server = await startMember(name, [{ name: "look", inputSchema, annotations: { readOnlyHint: true } }])
      servers.push(server)
      listing_ids.push((await live.add(berth, flow.user, name, server.url)).business.listingId)
    }
    const ids = ["One", "Two"].map((name) => compose(flow.user, { name, query_definition: { listing_ids } }))
    paths = (await Promise.all(ids)).map(({ id }) => `/mcp/composites/${id}`)
  })
  afterAll(() => servers.forEach(({ stop }) => stop()))

  it("signs in from its URL alone and calls a tool of all members; the token opens nothing else", async () => {
    const [path = "", other = ""] = paths
    const url = new URL(berth.url + path)
    const provider = new Client()
    const first = new StreamableHTTPClientTransport(url, { authProvider: provider })
    await expect(new McpClient({ name: "sdk", version: "1" }).connect(first as Transport)).rejects.toThrow(
      UnauthorizedError
    )
    expect(provider.sentTo!.searchParams.get("resource")).toBe(url.href)
    await first.finishAuth((await approve(provider.sentTo!)).get("code")!)
    const client = new McpClient({ name: "sdk", version: "1" })
    await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }) as Transport)
    const { structuredContent } = await callTool(client, "look")
    expect(structuredContent).toMatchObject({ answers: [{ status: "ok" }, { status: "ok" }] })
    await client.close()

    const token = provider.kept!.access_token
    expect(decodeJwt(token)).toMatchObject({ aud: url.href, sub: flow.user.id })
    for (const { seen } of servers) expect(JSON.stringify(seen)).not.toContain(token)
    for (const elsewhere of [other, "/mcp"]) {
      await expect(connectMcp(berth.url, { token, path: elsewhere }), elsewhere).rejects.toMatchObject({ code: 401 })
    }
    expect((await berth.request("GET", "/v1/projects", { token })).status).toBe(401)
  })

  it("steps up: a call that its token is too little for asks its user for what the call takes", async () => {
    const url = new URL(berth.url + paths[0]!)
    const { access_token } = await flow.tokens({ resource: url.href, scope: "mcp:read" })
    const provider = new Client()
    provider.kept = { access_token, token_type: "Bearer" }
    const transport = new StreamableHTTPClientTransport(url, { authProvider: provider })
    const client = new McpClient({ name: "sdk", version: "1" })
    await client.connect(transport as Transport)
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("look")
    await expect(callTool(client, "look")).rejects.toThrow(UnauthorizedError)
    expect(provider.sentTo!.searchParams.get("scope")).toBe("mcp:read mcp:execute")
    expect(provider.sentTo!.searchParams.get("resource")).toBe(url.href)
    await transport.finishAuth((await approve(provider.sentTo!)).get("code")!)
    expect(await callTool(client, "look")).toMatchObject({
      structuredContent: { answers: [{ status: "ok" }, { status: "ok" }] }
    })
    await client.close()
  })
})
