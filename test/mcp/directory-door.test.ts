import { type Client } from "@modelcontextprotocol/sdk/client/index.js"
import { Ajv2020 } from "ajv/dist/2020.js"
import { beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business } from "../support/business.ts"
import { newCategory, newItem } from "../support/catalog.ts"
import { always, connectDirectory, never, setAgentAccess, shownBusiness } from "../support/directory-door.ts"
import { freshAddress } from "../support/http.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()
let owner: Account
let client: Client
let ladle: Business
let kettle: Business
let spoon: Business

const denver = { contact: { address: { city: "Denver", state: "CO", zip: "80202" }, website: "https://ladle.example" } }

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  const { id: projectId } = await owner.project()
  ladle = await shownBusiness(owner, { projectId, name: "Copper Ladle", templateType: "restaurant" }, {
    ...denver,
    hours: always
  })
  kettle = await shownBusiness(owner, { projectId, name: "Copper Kettle", templateType: "restaurant" }, {
    contact: { address: { city: "Denver", state: "CO" }, coordinates: { lat: 39.74, lng: -104.99 } },
    hours: never
  })
  spoon = await shownBusiness(owner, { projectId, name: "Copper Spoon", templateType: "retail" }, {
    contact: { address: { city: "El Paso", state: "TX" } },
    hours: always
  })
  const { id: categoryId } = await newCategory(owner, ladle.id, { name: "Soups" })
  await newItem(owner, ladle.id, { name: "Corn Soup", priceCents: 899, categoryId, description: "x".repeat(400) })
  await newItem(owner, ladle.id, { name: "Sold out", isAvailable: false })
  await newItem(owner, ladle.id, { name: "Market fish", priceCents: null })
  client = await connectDirectory(berth.url, { "x-forwarded-for": freshAddress() })
})

interface Found {
  readonly businesses: ReadonlyArray<Readonly<Record<string, unknown>>>
  readonly hasMore: boolean
  readonly openUnknown?: number
  readonly hint?: string
}
const find = async (args: Readonly<Record<string, unknown>>, tool = "search_businesses") =>
  (await callTool(client, tool, args)).structuredContent as unknown as Found
const slugs = ({ businesses }: Found) => businesses.map(({ slug }) => slug)

const counted = async ({ listingId }: Business) => {
  const rows = await runSql(berth.databaseUrl, "SELECT kind, n::int FROM listing_events WHERE listing_id = $1", [
    listingId
  ])
  return Object.fromEntries(rows.map(({ kind, n }) => [kind, n])) as Record<string, number>
}

describe("the directory's own MCP endpoint", () => {
  it("needs no login, and has read tools only, each with title, hints and an output schema", async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      "search_businesses",
      "discover_nearby",
      "get_business",
      "get_menus",
      "get_order_link"
    ])
    const ajv = new Ajv2020({ strict: false })
    for (const { annotations, description, inputSchema, name, outputSchema, title } of tools) {
      expect(annotations, name).toEqual({
        title,
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false
      })
      expect([title, description].every((text) => text !== undefined && text !== ""), name).toBe(true)
      expect(ajv.validateSchema(inputSchema) && ajv.validateSchema(outputSchema ?? false), name).toBe(true)
      expect(inputSchema, name).toMatchObject({ type: "object", additionalProperties: false })
    }
    expect(JSON.stringify(tools).length, "the list is small").toBeLessThan(14_000)
    expect(client.getServerVersion()).toMatchObject({ name: "berth-directory" })
    expect(client.getInstructions()).toMatch(/search_businesses.*never as instructions/s)
    for (const { name } of tools) {
      expect(
        (await owner.request("POST", "/mcp", {
          body: { jsonrpc: "2.0", id: 1, method: "tools/list" },
          headers: { accept: "application/json, text/event-stream" }
        })).text,
        "the main list has none of them"
      ).not.toContain(`"name":"${name}","title":"Search businesses"`)
    }
  })

  it("finds by words, place and category; and says what there is instead", async () => {
    expect(slugs(await find({ query: "cooper ladle" }))).toEqual([ladle.slug])
    expect(slugs(await find({ query: "copper", city: "Denver, CO" })).sort()).toEqual([kettle.slug, ladle.slug].sort())
    expect(slugs(await find({ city: "80202", category: "Restaurant" }))).toContain(ladle.slug)
    const [first] = (await find({ query: "copper ladle" })).businesses
    expect(first).toEqual({
      slug: ladle.slug,
      name: "Copper Ladle",
      about: "",
      categories: ["Restaurant"],
      city: "Denver",
      state: "CO",
      verificationLevel: "unverified",
      isOpenNow: true,
      pageUrl: `${berth.url}/listings/${ladle.slug}`
    })
    const one = await find({ query: "copper", limit: 1 })
    expect([one.businesses.length, one.hasMore]).toEqual([1, true])
    const none = await find({ city: "Denver", category: "restaurants" })
    expect(none).toEqual({
      businesses: [],
      hasMore: false,
      hint: "No match has this category. Without it there are: Restaurant."
    })
    expect((await find({ query: "zeppelin" })).hint).toMatch(
      /Nothing matches.*What is offered is found by words that are all in one item/
    )
    expect((await find({ city: "Zeppelin" })).hint).not.toMatch(/item/)
  })

  it("knows what is open now where the time zone is known, and says where it is not", async () => {
    const open = await find({ query: "copper", open_now: true })
    expect([slugs(open), open.openUnknown]).toEqual([[ladle.slug], 1])
    const all = await find({ query: "copper" })
    expect(Object.fromEntries(all.businesses.map(({ isOpenNow, slug }) => [slug, isOpenNow]))).toEqual({
      [ladle.slug]: true,
      [kettle.slug]: false,
      [spoon.slug]: null
    })
    expect((await find({ query: "copper kettle", city: "Denver", open_now: true })).businesses.map(({ slug }) => slug))
      .not.toContain(kettle.slug)
    const shut = await find({ lat: 39.74, lng: -104.99, radius_miles: 0.1, open_now: true }, "discover_nearby")
    expect([slugs(shut), shut.hint]).toEqual([[], expect.stringMatching(/none is known to be open now/)])
  })

  it("discovers what is nearby, the nearest first", async () => {
    const near = await find({ lat: 39.74, lng: -104.99, radius_miles: 5 }, "discover_nearby")
    expect(slugs(near)).toEqual([kettle.slug, ladle.slug])
    expect(near.businesses[0]?.["distanceMiles"]).toBe(0)
    const hint = async (radius_miles: number) => (await find({ lat: 0, lng: 0, radius_miles }, "discover_nearby")).hint
    expect(await hint(2.5)).toBe("Nothing is within 2.5 miles. Try a larger radius_miles, at most 100.")
    expect(await hint(100)).toBe("Nothing is within 100 miles. Try another place, or search_businesses.")
  })

  it("reads a business, its menu with prices, and where to order", async () => {
    const { structuredContent } = await callTool(client, "get_business", { slug: ladle.slug })
    expect(structuredContent).toMatchObject({
      slug: ladle.slug,
      isOpenNow: true,
      timeZone: "America/Denver",
      website: "https://ladle.example",
      menuItems: 2,
      mcpServerUrl: "",
      skillUrl: `${berth.url}/api/v1/hub/listings/${ladle.listingId}/skill.md`
    })
    const unknown = (await callTool(client, "get_business", { slug: spoon.slug })).structuredContent
    expect(unknown).toMatchObject({ timeZone: null, isOpenNow: null, opensAt: null, closesAt: null })
    const { structuredContent: menus } = await callTool(client, "get_menus", {
      slugs: [ladle.slug, spoon.slug, "nobody"]
    })
    expect(menus).toMatchObject({
      menus: [
        {
          slug: ladle.slug,
          status: "ok",
          omittedItems: 0,
          sections: [
            { name: "Soups", items: [{ name: "Corn Soup", price: "$8.99", priceCents: 899 }] },
            { name: "Other", items: [{ name: "Market fish", price: "price on request", priceCents: null }] }
          ]
        },
        { slug: spoon.slug, status: "no_menu" },
        { slug: "nobody", status: "not_found" }
      ]
    })
    expect(JSON.stringify(menus).length).toBeLessThan(1_200)
    expect((await callTool(client, "get_order_link", { slug: ladle.slug })).structuredContent).toEqual({
      slug: ladle.slug,
      name: "Copper Ladle",
      url: "https://ladle.example",
      kind: "website"
    })
  })

  it("teaches by its errors", async () => {
    const refused = async (tool: string, args: Readonly<Record<string, unknown>>) => {
      const result = await callTool(client, tool, args)
      expect(result.isError, JSON.stringify(args)).toBe(true)
      return (textOf(result) as { readonly error: { readonly code: string; readonly message: string } }).error
    }
    expect(await refused("get_business", { slug: "nobody" })).toEqual({
      code: "not_found",
      message: "No business with the slug nobody is here; search_businesses and discover_nearby answer the slugs of " +
        "those that are"
    })
    expect((await refused("get_business", { slug: "<script>" })).message).not.toContain("<")
    expect(await refused("get_order_link", { slug: spoon.slug })).toMatchObject({
      message: expect.stringMatching(/neither a website nor an MCP server; get_business/)
    })
    const eleven = Array.from({ length: 11 }, (_, n) => `nobody-${n}`)
    expect(await refused("get_menus", { slugs: eleven })).toMatchObject({
      code: "bad_request",
      message: expect.stringMatching(/1 to 10 businesses; ask again/)
    })
    for (
      const [tool, args] of [
        ["get_menus", { slugs: [] }],
        ["get_menus", { slugs: "x" }],
        ["discover_nearby", { lat: 91, lng: 0, radius_miles: 1 }],
        ["discover_nearby", { lat: 1, lng: 0 }],
        ["search_businesses", { limit: 21 }],
        ["search_businesses", { q: "pizza" }],
        ["search_businesses", { query: "\u0000" }],
        ["get_business", {}]
      ] as const
    ) {
      expect((await refused(tool, args)).code, JSON.stringify(args)).toBe("bad_request")
    }
    // As models send numbers.
    expect(slugs(await find({ lat: "39.74", lng: "-104.99", radius_miles: "5" }, "discover_nearby"))).toHaveLength(2)
  })

  it("has nothing of a business whose owner left it, in any tool", async () => {
    const leaver = await shownBusiness(owner, { name: "Copper Leaver" }, { ...denver, hours: always })
    expect(slugs(await find({ query: "copper leaver" }))).toEqual([leaver.slug])
    const { body } = await setAgentAccess(owner, leaver, false)
    expect(body).toMatchObject({ data: { agentAccess: false } })
    expect(slugs(await find({ query: "copper leaver" }))).not.toContain(leaver.slug)
    expect(slugs(await find({ lat: 39.75, lng: -105, radius_miles: 20 }, "discover_nearby"))).not.toContain(leaver.slug)
    for (const tool of ["get_business", "get_order_link"]) {
      expect((await callTool(client, tool, { slug: leaver.slug })).isError, tool).toBe(true)
    }
    expect((await callTool(client, "get_menus", { slugs: [leaver.slug] })).structuredContent)
      .toMatchObject({ menus: [{ status: "not_found", name: "" }] })
    // It stays in the directory, and comes back by the tool as well.
    expect((await berth.request("GET", `/v1/directory/${leaver.listingId}`)).status).toBe(200)
    const main = await connectMcp(berth.url, { token: owner.token })
    expect((await callTool(main, "update_listing", { businessId: leaver.id, agentAccess: true })).structuredContent)
      .toMatchObject({ agentAccess: true })
    await main.close()
    expect(slugs(await find({ query: "copper leaver" }))).toEqual([leaver.slug])
    await owner.patch(`/v1/directory/${leaver.listingId}`, { visible: false })
    expect((await callTool(client, "get_business", { slug: leaver.slug })).isError).toBe(true)
  })

  it("counts what HTTP counts: impressions of what it answers, views, clicks and referrals", async () => {
    const mine = await shownBusiness(owner, { name: "Zinc Funnel" }, denver)
    await find({ query: "zinc funnel" })
    await find({ lat: 39.75, lng: -105, radius_miles: 20 }, "discover_nearby")
    await callTool(client, "get_business", { slug: mine.slug })
    await callTool(client, "get_menus", { slugs: [mine.slug, mine.slug] })
    // Two addresses, one of which asks again over both doors: each is answered, and one of its referrals counts.
    const address = freshAddress()
    const again = await connectDirectory(berth.url, { "x-forwarded-for": address })
    for (const asking of [client, again, again]) {
      expect((await callTool(asking, "get_order_link", { slug: mine.slug })).structuredContent).toHaveProperty("url")
    }
    const followed = await berth.request("GET", `/api/v1/hub/listings/${mine.listingId}/referral`, {
      headers: { "x-forwarded-for": address }
    })
    expect(followed.status).toBe(302)
    await again.close()
    await find({ query: "xylophone repair", city: "Denver" })
    await expect.poll(() => counted(mine), { timeout: 10_000 })
      .toEqual({ search_impression: 1, view: 1, click: 1, referral_click: 2 })
    const unmet = () => runSql(berth.databaseUrl, "SELECT n::int FROM unmet_searches WHERE words = 'xylophone repair'")
    await expect.poll(unmet, { timeout: 10_000 }).toEqual([{ n: 1 }])
  })
})

describe("its transport", () => {
  const accept = "application/json, text/event-stream"
  const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    berth.request("POST", "/mcp/directory", { body, headers: { accept, ...headers } })
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" }

  it.each(["2025-03-26", "2025-06-18", "2025-11-25"])("speaks %s, and keeps no session", async (protocolVersion) => {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } }
    const answer = await post({ jsonrpc: "2.0", id: 1, method: "initialize", params })
    expect([answer.status, answer.headers.get("mcp-session-id")]).toEqual([200, null])
    expect(answer.text).toContain(`"protocolVersion":"${protocolVersion}"`)
    expect((await post(list, { "mcp-protocol-version": protocolVersion })).text).toContain("search_businesses")
  })

  it("is open to any page, and looks at no cookie and no foreign credential", async () => {
    for (const headers of [{ origin: "https://agent.example" }, { authorization: "Bearer nonsense" }]) {
      const answer = await post(list, headers)
      expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, "*"])
    }
    const preflight = await berth.request("OPTIONS", "/mcp/directory", {
      headers: { origin: "https://agent.example", "access-control-request-method": "POST" }
    })
    expect([preflight.status, preflight.headers.get("access-control-allow-methods")]).toEqual([204, "POST, OPTIONS"])
    expect((await post(list, { host: "evil.example" })).status).toBe(421)
  })

  it("has no stream, and answers what is no message by the protocol", async () => {
    for (const method of ["GET", "DELETE"]) {
      const answer = await berth.request(method, "/mcp/directory", { headers: { accept } })
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST, OPTIONS"])
    }
    const broken = await post("{")
    expect([broken.status, broken.body]).toMatchObject([400, { error: { code: -32700 } }])
    const unknown = await post({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "deploy" } })
    expect(unknown.text).toContain("There is no tool deploy")
  })

  it("is limited by address, together with the directory; a hub key counts in its own day", async () => {
    const headers = { "x-forwarded-for": freshAddress() }
    expect((await post(list, headers)).headers.get("x-ratelimit-limit")).toBe("300")
    const read = await berth.request("GET", "/v1/directory", { headers })
    expect(read.headers.get("x-ratelimit-remaining")).toBe("298")
    let answer = read
    for (let n = 0; n < 300 && answer.status !== 429; n++) {
      answer = await berth.request("POST", "/mcp/directory", { body: list, headers: { accept, ...headers } })
    }
    expect([answer.status, answer.body]).toMatchObject([429, { error: { code: -32000 } }])
    const { body } = await owner.request<{ data: { key: string } }>("POST", "/api/v1/hub/api-keys", { body: {} })
    const key = { ...headers, authorization: `Bearer ${body.data.key}` }
    expect((await post(list, key)).headers.get("x-ratelimit-limit")).toBe("100")
    const wrong = await post(list, { authorization: `Bearer ${body.data.key}x` })
    expect([wrong.status, wrong.body]).toEqual([401, failure("unauthorized")])
  })
})
