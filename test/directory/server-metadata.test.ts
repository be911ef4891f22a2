import { beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { served as servedBy, withDeployment } from "../support/served.ts"

const berth = useBerth({ variables: { MCP_DOMAIN: "mcp.example.com" } })
let owner: Account

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
})

const served = (...args: [slug: string, fields?: Readonly<Record<string, unknown>>]) => servedBy(owner, ...args)
/** With a deployment that serves. */
const deployed = async (...args: Parameters<typeof served>) => {
  const made = await served(...args)
  await withDeployment(berth, made)
  return made
}
const metadata = (subdomain: string) => berth.request("GET", `/.well-known/mcp-server-metadata?subdomain=${subdomain}`)

describe("server metadata", () => {
  it("has every field of the contract, and no wrapper", async () => {
    const { business, server } = await served("copper", { industry: "oysters", description: "Fresh" })
    berth.advance(3 * 86_400_000)
    const { body, status } = await metadata("copper")
    berth.advance(-3 * 86_400_000)
    expect([status, body]).toEqual([200, {
      name: "Named copper",
      version: "0.0.0",
      description: "Fresh",
      mcpServerUrl: `${server.publicUrl}/mcp`,
      vertical: "oysters",
      agentDiscovery: {
        oauthProtectedResource: `${server.publicUrl}/.well-known/oauth-protected-resource`,
        openaiTransport: "http",
        geminiConnectionType: "StreamableHTTP",
        mcpSpecVersion: "2025-11-25"
      },
      business: {
        id: business.id,
        name: "Named copper",
        slug: business.slug,
        industry: "oysters",
        city: "",
        state: "",
        verificationLevel: "unverified",
        accountAgeDays: 3,
        profileCompleteness: expect.any(Number),
        lastUpdated: expect.stringMatching(/^\d{4}-.*Z$/),
        interactionCount: 0
      }
    }])
  })

  it("is found by the slug and by the whole host, in any case, with a port or a dot at its end", async () => {
    await served("ladle")
    for (
      const name of ["ladle", "LADLE", "ladle.mcp.example.com", "Ladle.MCP.example.com:8443", "ladle.mcp.example.com."]
    ) {
      expect((await metadata(name)).status, name).toBe(200)
    }
    for (const name of ["ladl", "ladle.example.com", "x.ladle", "ladle.mcp.example.com.evil", "%2e%2e", "a/b"]) {
      const answer = await metadata(name)
      expect([answer.status, answer.body], name).toEqual([404, failure("not_found")])
    }
  })

  it("is 400 without a subdomain and 404 while the listing is hidden", async () => {
    const { business } = await served("hidden")
    for (const query of ["", "?subdomain=", "?subdomain=%20", "?Subdomain=hidden", "?subdomain=%00"]) {
      const answer = await berth.request("GET", `/.well-known/mcp-server-metadata${query}`)
      expect([answer.status, answer.body], query).toEqual([400, failure("bad_request", expect.anything())])
    }
    await owner.patch(`/v1/directory/${business.listingId}`, { visible: false })
    expect((await metadata("hidden")).status).toBe(404)
  })

  it("is told to every credential over MCP, and the directory with it", async () => {
    const { business } = await served("anybody")
    const { key } = await owner.key(business.projectId, ["billing:read"])
    const client = await connectMcp(berth.url, { token: key, query: "?toolsets=all" })
    const found = await callTool(client, "directory_search", { search: "named anybody", limit: 1 })
    expect(found.structuredContent).toMatchObject({
      data: [{ id: business.listingId }],
      meta: { hasMore: expect.any(Boolean) }
    })
    const described = await callTool(client, "server_metadata", { subdomain: "anybody" })
    expect(described.structuredContent).toMatchObject({ name: "Named anybody" })
    const issues = [{ path: "subdomain", message: "is required" }]
    expect(textOf(await callTool(client, "server_metadata", {}))).toEqual(failure("bad_request", { issues }))
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === "server_metadata")?.inputSchema.required).toEqual(["subdomain"])
    expect(textOf(await callTool(client, "directory_listing", { listingId: "x" }))).toEqual(failure("not_found"))
    await client.close()
  })
})

interface Registry {
  readonly servers: ReadonlyArray<{ readonly server: { readonly name: string } }>
  readonly metadata: { readonly count: number; readonly nextCursor?: string }
}

describe("the registry", () => {
  const list = async (query = "") => (await berth.request<Registry>("GET", `/v0.1/servers${query}`)).body
  const names = ({ servers }: Registry) => servers.map(({ server }) => server.name)

  it("lists listings that are shown and have a server, page by page, each once", async () => {
    for (const slug of ["reg-a", "reg-b", "reg-c"]) await deployed(slug)
    const hidden = await deployed("reg-hidden")
    await owner.patch(`/v1/directory/${hidden.business.listingId}`, { visible: false })
    const seen: Array<string> = []
    let cursor: string | undefined
    do {
      const page = await list(`?limit=2&search=reg-${cursor === undefined ? "" : `&cursor=${cursor}`}`)
      expect(page.metadata.count).toBe(page.servers.length)
      seen.push(...names(page))
      cursor = page.metadata.nextCursor
    } while (cursor !== undefined)
    expect(seen).toEqual(["reg-a", "reg-b", "reg-c"].map((slug) => `com.example.mcp/${slug}`))
  })

  it("tells of a server in the registry's shape", async () => {
    const { server } = await deployed("shaped", { description: `Long ${"word ".repeat(60)}` })
    const answer = await berth.request("GET", "/v0.1/servers/com.example.mcp%2Fshaped/versions/latest")
    expect([answer.status, answer.body]).toEqual([200, {
      server: {
        $schema: expect.stringMatching(/^https:\/\/static\.modelcontextprotocol\.io\/schemas\//),
        name: "com.example.mcp/shaped",
        title: "Named shaped",
        description: expect.stringMatching(/^Long (word )+.*…$/),
        version: "3.0.0",
        remotes: [
          { type: "streamable-http", url: `${server.publicUrl}/mcp` },
          { type: "sse", url: `${server.publicUrl}/sse` }
        ]
      },
      _meta: {
        "io.modelcontextprotocol.registry/official": {
          status: "active",
          publishedAt: expect.stringMatching(/Z$/),
          updatedAt: expect.stringMatching(/Z$/),
          isLatest: true
        }
      }
    }])
    const { server: told } = answer.body as { readonly server: { readonly description: string; readonly name: string } }
    expect(told.description.length).toBeLessThanOrEqual(100)
    expect(told.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
    const versions = await berth.request<Registry>("GET", "/v0.1/servers/com.example.mcp%2Fshaped/versions")
    expect(names(versions.body)).toEqual(["com.example.mcp/shaped"])
    expect((await berth.request("GET", "/v0.1/servers/com.example.mcp%2Fshaped/versions/3.0.0")).status).toBe(200)
  })

  it("has no server that was never deployed", async () => {
    await served("undeployed")
    expect(names(await list("?search=undeployed"))).toEqual([])
    expect(names(await list("?search=undeployed&version=0.0.0"))).toEqual([])
    for (const path of ["versions", "versions/latest", "versions/0.0.0"]) {
      const answer = await berth.request("GET", `/v0.1/servers/com.example.mcp%2Fundeployed/${path}`)
      expect([answer.status, answer.body], path).toEqual([404, failure("NOT_FOUND")])
    }
  })

  it("is narrowed by name, time and version", async () => {
    await deployed("narrow-one")
    expect(names(await list("?search=NARROW"))).toEqual(["com.example.mcp/narrow-one"])
    for (const part of ["com.example.mcp/narrow", "MCP/narrow-o", "/narrow", "row-one", "med%20NARROW-"]) {
      expect(names(await list(`?search=${part}`)), part).toEqual(["com.example.mcp/narrow-one"])
    }
    for (const part of ["mcp/row", "com.example/narrow", "xample.mcp/nothing", "narrow/one", "narrow%", "n_rrow"]) {
      expect(names(await list(`?search=${encodeURIComponent(part)}`)), part).toEqual([])
    }
    expect(names(await list("?search=narrow&version=latest"))).toHaveLength(1)
    expect(names(await list("?search=narrow&version=3.0.0"))).toHaveLength(1)
    expect(names(await list("?search=narrow&version=9.0.0"))).toEqual([])
    expect(names(await list("?search=narrow&version=none"))).toEqual([])
    expect(names(await list("?search=narrow&updated_since=2020-01-01T00:00:00Z"))).toHaveLength(1)
    expect(names(await list("?search=narrow&updated_since=2100-01-01T00:00:00%2B01:00"))).toEqual([])
  })

  it("is not searched for the namespace, which every name has", async () => {
    await deployed("com-bakery")
    expect(names(await list("?search=com"))).toEqual(["com.example.mcp/com-bakery"])
    for (const part of ["mcp", "example", "com.example.mcp"]) {
      expect(names(await list(`?search=${part}`)), part).toEqual([])
    }
    for (const all of ["", "%20", "%E2%80%8B", "com.example.mcp/"]) {
      expect(names(await list(`?limit=100&search=${all}`)).length > 1, all).toBe(true)
    }
  })

  it("refuses what it can't answer", async () => {
    for (const query of ["limit=0", "limit=101", "cursor=x", "updated_since=yesterday", "search=%00"]) {
      expect((await berth.request("GET", `/v0.1/servers?${query}`)).status, query).toBe(400)
    }
    for (const path of ["x/versions", "com.example.mcp%2Fnone/versions", "com.example.mcp%2Fshaped/versions/9.9.9"]) {
      const answer = await berth.request("GET", `/v0.1/servers/${path}`)
      expect([answer.status, answer.body], path).toEqual([404, failure("NOT_FOUND")])
    }
  })
})
