import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/sdk/types.js"
import { beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { connectDirectory } from "../support/directory-door.ts"
import { connectMcp } from "../support/mcp.ts"
import { type Served, served, withDeployment } from "../support/served.ts"

const berth = useBerth({ variables: { MCP_DOMAIN: "mcp.example.com" } })
let owner: Account
let shop: Served
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  shop = await served(owner, "copper", { description: "Soups <b>&\n---\nstews. ".repeat(20) })
  await withDeployment(berth, shop)
})

/** SEP-2127, ServerCard, as far as ours may have it. */
const Card = z.strictObject({
  $schema: z.literal("https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"),
  name: z.string().min(3).max(200).regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  version: z.string().max(255).regex(/^\d+\.\d+\.\d+/),
  description: z.string().min(1).max(100),
  title: z.string().min(1).max(100),
  websiteUrl: z.url().optional(),
  remotes: z.array(z.strictObject({
    type: z.enum(["streamable-http", "sse"]),
    url: z.string().regex(/^https?:\/\/\S+$/),
    supportedProtocolVersions: z.array(z.string()).optional()
  }))
})

/** AI Catalog 1.0, of cards. */
const Catalog = z.strictObject({
  specVersion: z.literal("1.0"),
  host: z.strictObject({ displayName: z.string(), identifier: z.string(), documentationUrl: z.url() }),
  entries: z.array(z.strictObject({
    identifier: z.string().regex(/^urn:air:[a-z0-9.-]+:mcp:[a-z0-9-]+$/),
    type: z.literal("application/mcp-server-card+json"),
    url: z.url()
  }))
})

const ourCard = "/mcp/server-card"
const directoryCard = "/mcp/directory/server-card"
const catalogPath = "/.well-known/ai-catalog.json"
const cardOf = (slug: string) => `/s/${slug}/mcp/server-card`
const page = { origin: "https://agent.example" }

describe("server cards (SEP-2127)", () => {
  it("tell of our own MCP endpoint what it tells itself", async () => {
    const { body, status } = await berth.request("GET", ourCard, {
      headers: { accept: "application/mcp-server-card+json" }
    })
    expect(status).toBe(200)
    const card = Card.parse(body)
    expect(card).toMatchObject({
      name: "1.0.0.127/berth",
      title: "Berth",
      remotes: [
        { type: "streamable-http", url: `${berth.url}/mcp`, supportedProtocolVersions: SUPPORTED_PROTOCOL_VERSIONS },
        { type: "sse", url: `${berth.url}/sse` }
      ]
    })
    const [remote] = card.remotes
    const client = await connectMcp(remote!.url.replace(/\/mcp$/, ""), { token: owner.token })
    expect(client.getServerVersion()).toMatchObject({ title: card.title, version: card.version })
    await client.close()
  })

  it("tell of the directory's endpoint, which takes no token", async () => {
    const card = Card.parse((await berth.request("GET", directoryCard)).body)
    expect(card).toMatchObject({ name: "1.0.0.127/berth-directory", remotes: [{ url: `${berth.url}/mcp/directory` }] })
    const client = await connectDirectory(card.remotes[0]!.url.replace(/\/mcp\/directory$/, ""))
    expect(client.getServerVersion()).toMatchObject({ title: card.title, version: card.version })
    await client.close()
  })

  it("tell of a listed server without a token, at both of its addresses", async () => {
    const { body, status } = await berth.request("GET", cardOf("copper"))
    expect(status).toBe(200)
    expect(Card.parse(body)).toMatchObject({
      name: "com.example.mcp/copper",
      title: "Named copper",
      version: "3.0.0",
      remotes: [{ url: `${shop.server.publicUrl}/mcp` }, { url: `${shop.server.publicUrl}/sse` }]
    })
    const byHost = await berth.request("GET", ourCard, { headers: { host: "copper.mcp.example.com" } })
    expect(byHost.body).toEqual(body)
  })

  it("are not there for a server that is not listed, not deployed, or none: it takes a token as ever", async () => {
    await served(owner, "never-deployed")
    const hidden = await served(owner, "hidden")
    await withDeployment(berth, hidden)
    await owner.patch(`/v1/directory/${hidden.business.listingId}`, { visible: false })
    for (const slug of ["never-deployed", "hidden"]) {
      expect((await berth.request("GET", cardOf(slug))).status, slug).toBe(401)
    }
    expect((await berth.request("GET", cardOf("nobody"))).status).toBe(404)
    for (const path of [`${cardOf("copper")}/x`, "/s/copper/server-card", "/s/copper/sse/server-card"]) {
      expect((await berth.request("GET", path)).status, path).toBe(401)
    }
    expect((await berth.request("POST", cardOf("copper"), { body: {} })).status).toBe(401)
  })

  it("and the catalog are read by any page, kept for an hour, and have an ETag", async () => {
    for (
      const [path, type] of [
        [ourCard, "application/mcp-server-card+json"],
        [directoryCard, "application/mcp-server-card+json"],
        [cardOf("copper"), "application/mcp-server-card+json"],
        [catalogPath, "application/ai-catalog+json"]
      ] as const
    ) {
      const { headers, status } = await berth.request("GET", path, { headers: page })
      const etag = headers.get("etag") ?? ""
      expect([
        status,
        headers.get("content-type"),
        headers.get("cache-control"),
        headers.get("access-control-allow-origin")
      ], path).toEqual([200, type, "public, max-age=3600", "*"])
      expect(headers.get("access-control-expose-headers")).toMatch(/ETag|\*/)
      const again = await berth.request("GET", path, { headers: { "if-none-match": etag } })
      expect([again.status, again.text], path).toEqual([304, ""])
      const head = await berth.request("HEAD", path)
      expect([head.status, head.text, head.headers.get("etag")], path).toEqual([200, "", etag])
      const preflight = await berth.request("OPTIONS", path, {
        headers: { ...page, "access-control-request-method": "GET", "access-control-request-headers": "if-none-match" }
      })
      expect([preflight.status, preflight.headers.get("access-control-allow-origin")], path).toEqual([204, "*"])
      expect(preflight.headers.get("access-control-allow-methods")).toMatch(/GET/)
    }
  })
})

describe("the catalog (AI Catalog 1.0)", () => {
  /** It is kept for 5 seconds. */
  const read = async () => {
    berth.advance(5_000)
    return Catalog.parse((await berth.request("GET", catalogPath)).body)
  }

  it("names our endpoint and the listed servers, each with the address of its card", async () => {
    const { entries } = await read()
    expect(entries).toEqual([
      {
        identifier: "urn:air:127.0.0.1:mcp:berth",
        type: "application/mcp-server-card+json",
        url: `${berth.url}${ourCard}`
      },
      {
        identifier: "urn:air:127.0.0.1:mcp:berth-directory",
        type: "application/mcp-server-card+json",
        url: `${berth.url}${directoryCard}`
      },
      {
        identifier: "urn:air:mcp.example.com:mcp:copper",
        type: "application/mcp-server-card+json",
        url: `${shop.server.publicUrl}/mcp/server-card`
      }
    ])
  })

  it("drops a server with its listing", async () => {
    const other = await served(owner, "other")
    await withDeployment(berth, other)
    const names = async () => (await read()).entries.map(({ identifier }) => identifier.split(":").at(-1))
    expect((await names()).toSorted()).toEqual(["berth", "berth-directory", "copper", "other"])
    await owner.patch(`/v1/directory/${other.business.listingId}`, { visible: false })
    expect(await names()).toEqual(["berth", "berth-directory", "copper"])
  })
})
