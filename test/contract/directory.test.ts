import { beforeAll, describe, expect } from "vitest"
import { type Account, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses, newBusiness } from "../support/business.ts"
import { connectDirectory, pastOthers } from "../support/directory-door.ts"
import { callTool } from "../support/mcp.ts"
import { row } from "./row.ts"
import { failure, text, timestamp, ulid } from "./shapes.ts"

const berth = useBerth()
let owner: Account
let business: Business
let server: Server
let hidden: Business

beforeAll(async () => {
  owner = await berth.signUp("pro")
  const project = await owner.project()
  server = await owner.server(project.id)
  business = await newBusiness(owner, { projectId: project.id, name: "Copper Ladle", templateType: "restaurant" })
  await owner.patch(`${businesses}/${business.id}`, {
    serverId: server.id,
    contact: {
      website: "https://copper.example",
      address: { city: "Millbrook", state: "NY" },
      coordinates: { lat: 41.8, lng: -73.7 }
    }
  })
  await owner.patch(`${businesses}/${business.id}/listing`, { categories: ["Pizza"], tags: ["wood fire"] })
  await owner.patch(`/v1/directory/${business.listingId}`, { visible: true })
  hidden = await newBusiness(owner, { projectId: project.id, name: "Hidden Ladle", templateType: "restaurant" })
})

const listing = () => ({
  id: business.listingId,
  businessId: business.id,
  businessName: "Copper Ladle",
  businessSlug: business.slug,
  name: "Copper Ladle",
  description: "",
  categories: ["Pizza"],
  tags: ["wood fire"],
  featuredImageUrl: "",
  city: "Millbrook",
  state: "NY",
  publishedAt: timestamp,
  verificationLevel: "unverified",
  relevanceScore: expect.any(Number) as unknown
})
const get = (path: string) => berth.request<{ readonly meta: { readonly total: number } }>("GET", path)

describe("the directory", () => {
  row("GET /v1/feeds/businesses → 200 { data: [listed or removed], meta: { changes_token, hasMore } }", async () => {
    await pastOthers(berth.databaseUrl)
    const first = await berth.request<{ readonly meta: { readonly changes_token: string } }>(
      "GET",
      "/v1/feeds/businesses"
    )
    const meta = { changes_token: text, hasMore: false }
    expect([first.status, first.body]).toEqual([200, {
      data: [expect.objectContaining({ status: "listed", id: business.listingId, slug: business.slug })],
      meta
    }])
    const hide = (visible: boolean) => owner.patch(`/v1/directory/${business.listingId}`, { visible })
    await hide(false)
    await pastOthers(berth.databaseUrl)
    const then = await get(`/v1/feeds/businesses?changes_token=${first.body.meta.changes_token}`)
    await hide(true)
    expect([then.status, then.body]).toEqual([200, {
      data: [{ status: "removed", id: business.listingId, slug: business.slug, removedAt: timestamp }],
      meta
    }])
  })

  row(
    "/mcp/directory: search_businesses, discover_nearby, get_business, get_menus, get_order_link, without a credential",
    async () => {
      const client = await connectDirectory(berth.url)
      const called = async (name: string, args: Readonly<Record<string, unknown>>) =>
        (await callTool(client, name, args)).structuredContent
      const { slug } = business
      const found = { businesses: [{ slug, name: "Copper Ladle", city: "Millbrook" }], hasMore: false }
      expect(await called("search_businesses", { query: "coper ladle", city: "Millbrook" })).toMatchObject(found)
      expect(await called("discover_nearby", { lat: 41.8, lng: -73.7, radius_miles: 1 })).toMatchObject(found)
      expect(await called("get_business", { slug })).toMatchObject({ slug, mcpServerUrl: `${server.publicUrl}/mcp` })
      expect(await called("get_menus", { slugs: [slug] })).toMatchObject({ menus: [{ slug, status: "no_menu" }] })
      expect(await called("get_order_link", { slug })).toMatchObject({ url: "https://copper.example", kind: "website" })
      expect(await called("get_business", { slug: hidden.slug })).toBeUndefined()
      await client.close()
    }
  )

  row("GET /v1/directory → 200 { data: [listing], meta }", async () => {
    const answer = await get("/v1/directory")
    expect([answer.status, answer.body]).toEqual([200, {
      data: [{ ...listing(), mcpServerUrl: `${server.publicUrl}/mcp` }],
      meta: { cursor: null, hasMore: false, total: 1 }
    }])
  })

  row("GET /v1/directory/facets → 200 { data: { total, categories, kinds, cities } }", async () => {
    const answer = await get("/v1/directory/facets")
    expect([answer.status, answer.body]).toEqual([200, {
      data: {
        total: 1,
        categories: [{ value: "Pizza", count: 1 }],
        kinds: [{ value: "restaurant", count: 1 }],
        cities: [{ city: "Millbrook", state: "NY", count: 1 }]
      }
    }])
  })

  row("GET /v1/directory/:id → 200 { data: listing detail }", async () => {
    const answer = await get(`/v1/directory/${business.listingId}`)
    expect([answer.status, answer.body]).toEqual([200, { data: expect.objectContaining(listing()) as unknown }])
  })

  row("a listing has the contract's fields; the detail read adds mcpServerUrl, industry, website", async () => {
    expect((await get(`/v1/directory/${business.listingId}`)).body).toEqual({
      data: {
        ...listing(),
        mcpServerUrl: `${server.publicUrl}/mcp`,
        industry: "restaurant",
        website: "https://copper.example"
      }
    })
  })

  row("PATCH /v1/directory/:id { visible } → 200", async () => {
    const show = (visible: boolean) => owner.patch(`/v1/directory/${business.listingId}`, { visible })
    const off = await show(false)
    const on = await show(true)
    for (const [answer, status] of [[off, "pending"], [on, "active"]] as const) {
      expect([answer.status, answer.body]).toEqual([200, {
        data: { id: ulid, businessId: business.id, status, publishedAt: timestamp, updatedAt: timestamp }
      }])
    }
  })

  row(
    "directory list query: limit, cursor, search, category, location, templateType, vertical, city, min_verification",
    async () => {
      const found = ["search=coper", "category=Pizza", "location=illbr", "location=ny", "templateType=restaurant"]
        .concat("vertical=restaurant", "city=MILLBROOK", "limit=100")
      for (const query of found) {
        expect((await get(`/v1/directory?${query}`)).body.meta.total, query).toBe(1)
      }
      const none = ["search=zzzz", "category=pizza", "location=xx", "vertical=salon", "city=mill"]
        .concat("min_verification=phone_verified")
      for (const query of none) {
        expect((await get(`/v1/directory?${query}`)).body.meta.total, query).toBe(0)
      }
      for (const query of ["limit=0", "limit=101", "cursor=x", "min_verification=unverified"]) {
        expect((await get(`/v1/directory?${query}`)).status, query).toBe(400)
      }
    }
  )

  row("directory list query: geolocation search requires lat, lng and radius_miles", async () => {
    expect((await get("/v1/directory?lat=41.9&lng=-73.7&radius_miles=10")).body.meta.total).toBe(1)
    for (const query of ["lat=41.9", "lat=41.9&lng=-73.7", "radius_miles=10"]) {
      const answer = await get(`/v1/directory?${query}`)
      expect([answer.status, answer.body]).toEqual([400, failure("bad_request", expect.anything())])
    }
  })

  row("directory detail: 404, listing missing or not active", async () => {
    for (const id of [hidden.listingId, "01J00000000000000000000000"]) {
      const answer = await get(`/v1/directory/${id}`)
      expect([answer.status, answer.body]).toEqual([404, failure("not_found")])
    }
  })

  row("directory reads: 300 requests per minute per IP", async () => {
    expect((await get("/v1/directory")).headers.get("x-ratelimit-limit")).toBe("300")
    expect((await get(`/v1/directory/${business.listingId}`)).headers.get("x-ratelimit-limit")).toBe("300")
  })

  row("GET /.well-known/mcp-server-metadata → 200 metadata object", async () => {
    const answer = await get(`/.well-known/mcp-server-metadata?subdomain=${server.slug}`)
    expect([answer.status, answer.body]).toEqual([200, {
      name: "Copper Ladle",
      version: text,
      description: "",
      mcpServerUrl: `${server.publicUrl}/mcp`,
      vertical: "restaurant",
      agentDiscovery: {
        oauthProtectedResource: text,
        openaiTransport: "http",
        geminiConnectionType: "StreamableHTTP",
        mcpSpecVersion: "2025-11-25"
      },
      business: {
        id: business.id,
        name: "Copper Ladle",
        slug: business.slug,
        industry: "restaurant",
        city: "Millbrook",
        state: "NY",
        verificationLevel: "unverified",
        accountAgeDays: 0,
        profileCompleteness: expect.any(Number) as unknown,
        lastUpdated: timestamp,
        interactionCount: expect.any(Number) as unknown
      }
    }])
  })

  row("server metadata: 400, subdomain missing; 404, no active listing for it", async () => {
    const missing = await get("/.well-known/mcp-server-metadata")
    expect([missing.status, missing.body]).toEqual([400, failure("bad_request", expect.anything())])
    const none = await get("/.well-known/mcp-server-metadata?subdomain=nobody")
    expect([none.status, none.body]).toEqual([404, failure("not_found")])
  })
})
