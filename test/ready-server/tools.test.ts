import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { outputValidators } from "../support/output-validators.ts"
import { type Running, start } from "./bundle.ts"
import { minimal, restaurant } from "./config.ts"

const secret = "sk_integration_secret"
const transports = {
  "Streamable HTTP": (url: string) => new StreamableHTTPClientTransport(new URL(`${url}/mcp`)) as Transport,
  "HTTP+SSE": (url: string) => new SSEClientTransport(new URL(`${url}/sse`)) as Transport
}

const connect = async (transport: Transport) => {
  const client = new Client({ name: "test", version: "1" }, { jsonSchemaValidator: outputValidators })
  await client.connect(transport)
  // Learns the output schemas: the SDK then checks every structured result against them.
  await client.listTools()
  return client
}

const call = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
  const result = CallToolResultSchema.parse(await client.callTool({ name, arguments: args }))
  const [block] = result.content
  const text = block?.type === "text" ? block.text : ""
  return { ...result, text, data: result.structuredContent }
}

let server: Running
let bare: Running
beforeAll(async () => {
  server = await start({ ...restaurant, integrations: { crm: { apiKey: secret } }, unknownField: 1 })
  bare = await start(minimal)
}, 60_000)
afterAll(async () => {
  await Promise.all([server?.stop(), bare?.stop()])
})

describe.each(Object.entries(transports))("over %s", (_, transport) => {
  let client: Client
  beforeAll(async () => {
    client = await connect(transport(server.url))
  })
  afterAll(() => client.close())

  it("lists its read-only tools, each with a title, a description and both schemas", async () => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      "get_business",
      "get_hours",
      "browse_catalog",
      "search_catalog",
      "get_item",
      "get_menu"
    ])
    for (const tool of tools) {
      expect(tool.title).toBeTruthy()
      expect(tool.description?.length).toBeGreaterThan(40)
      expect(tool.inputSchema.type).toBe("object")
      expect(tool.outputSchema?.type).toBe("object")
      expect(tool.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false })
      expect(JSON.stringify(tool)).not.toContain("$ref")
    }
  })

  it("tells before a search that it answers prices, which it takes none of", async () => {
    const { tools } = await client.listTools()
    const tool = tools.find(({ name }) => name === "search_catalog")
    expect(tool?.description).toMatch(/with prices/)
    expect((await call(client, "search_catalog", { query: "soup", maxPrice: 15 })).text).toContain(
      "\"maxPrice\" is not a known field"
    )
    const { data } = await call(client, "search_catalog", { query: "fish" })
    expect(data).toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ price: expect.any(String) })])
    })
  })

  it("answers each tool with structured content and the same JSON as text", async () => {
    const calls: ReadonlyArray<[string, Record<string, unknown>]> = [
      ["get_business", {}],
      ["get_hours", { at: "2026-03-14T19:30" }],
      ["browse_catalog", { limit: 3 }],
      ["search_catalog", { query: "lemon" }],
      ["get_item", { id: "item_cider" }]
    ]
    for (const [name, args] of calls) {
      const { data, isError, text } = await call(client, name, args)
      expect(isError).toBeUndefined()
      expect(JSON.parse(text)).toEqual(data)
      expect(text).not.toContain(secret)
    }
  })

  it("refuses an unknown tool as a protocol error", async () => {
    await expect(client.callTool({ name: "order_pizza", arguments: {} })).rejects.toThrow("Unknown tool: order_pizza")
  })
})

describe("the tools", () => {
  let client: Client
  let empty: Client
  beforeAll(async () => {
    client = await connect(transports["Streamable HTTP"](server.url))
    empty = await connect(transports["Streamable HTTP"](bare.url))
  })
  afterAll(() => Promise.all([client.close(), empty.close()]))

  it("get_business gives who, where and how to reach; what is not stated is null", async () => {
    expect((await call(client, "get_business")).data).toMatchObject({
      name: "The Copper Ladle",
      contact: { phone: "+1-555-0142", address: { city: "Millbrook" }, coordinates: { lat: 41.8853 } },
      featureFlags: { menuBrowsing: true },
      catalogItemCount: 15
    })
    expect((await call(empty, "get_business")).data).toMatchObject({
      description: null,
      contact: { phone: null, coordinates: null, address: { line1: null } },
      catalogItemCount: null
    })
  })

  it.each([
    ["2026-03-14T19:30", { isOpen: true, closesNext: "2026-03-15T01:00", opensNext: "2026-03-15T10:00" }],
    ["2026-03-15T00:59", { isOpen: true, closesNext: "2026-03-15T01:00", opensNext: "2026-03-15T10:00" }],
    ["2026-03-15T01:00", { isOpen: false, opensNext: "2026-03-15T10:00", closesNext: "2026-03-15T20:30" }],
    ["2026-03-16T12:00", { isOpen: false, opensNext: "2026-03-17T11:30", closesNext: "2026-03-17T21:30" }],
    ["2026-12-25T19:00:00", { localTime: "2026-12-25T19:00", isOpen: false, opensNext: "2026-12-26T10:00" }],
    ["2027-01-01 01:30:00.5", { localTime: "2027-01-01T01:30", isOpen: true, closesNext: "2027-01-01T02:00" }]
  ])("get_hours at %s", async (at, expected) => {
    expect((await call(client, "get_hours", { at })).data?.at).toMatchObject(expected)
  })

  it.each(["Z", "z", ":00Z", "+02:00", ":59.5-0530", "-06"])(
    "get_hours refuses an instant (%s), which it can't put on the business's clock, rather than answer for another time",
    async (tail) => {
      const { isError, text } = await call(client, "get_hours", { at: `2026-03-14T19:30${tail}` })
      expect(isError).toBe(true)
      expect(text).toContain("time zone is not known")
      expect(text).toContain("without Z or an offset")
    }
  )

  it("get_hours without a time lists the week from Monday and the dates in order", async () => {
    const { data } = await call(client, "get_hours")
    expect(data?.at).toBeNull()
    expect(data?.clock).toContain("its time zone is not stated")
    expect(data?.week).toMatchObject([
      { day: "monday", status: "closed" },
      { day: "tuesday", open: "11:30" },
      {},
      {},
      {
        day: "friday",
        closesNextDay: true
      },
      {},
      {}
    ])
    expect(data?.dates).toMatchObject([{ date: "2026-11-26" }, { date: "2026-12-25" }, { date: "2026-12-31" }])
  })

  it("get_hours says it does not know when no hours are stated", async () => {
    expect((await call(empty, "get_hours", { at: "2026-03-14T19:30" })).data?.at).toEqual({
      localTime: "2026-03-14T19:30",
      isOpen: null,
      opensNext: null,
      closesNext: null
    })
  })

  it("browse_catalog pages through every item once, in order, with formatted prices", async () => {
    const seen: Array<string> = []
    const names = new Set<string>()
    let cursor: unknown
    for (let page = 0; page < 10; page++) {
      const { data } = await call(client, "browse_catalog", { limit: 4, ...(page === 0 ? {} : { cursor }) })
      expect(data?.total).toBe(15)
      const categories = data?.categories as Array<{ name: string; items: Array<{ id: string; price: string }> }>
      for (const { items, name } of categories) {
        names.add(name)
        seen.push(...items.map(({ id }) => id))
      }
      cursor = data?.nextCursor
      if (cursor === null) break
    }
    expect(seen).toHaveLength(15)
    expect(new Set(seen).size).toBe(15)
    expect(seen[0]).toBe("item_corn_ribs")
    expect([...names]).toEqual(["Starters", "Mains", "Desserts", "Drinks"])
  })

  it("browse_catalog takes a category by id or by name in any case", async () => {
    for (const category of ["cat_drinks", "drinks", "DRINKS"]) {
      expect((await call(client, "browse_catalog", { category })).data).toMatchObject({
        total: 3,
        categories: [{ id: "cat_drinks", itemCount: 3, items: [{ price: "$4.75", priceCents: 475 }, {}, {}] }]
      })
    }
  })

  it("browse_catalog of a business without a catalog is empty, not an error", async () => {
    expect((await call(empty, "browse_catalog")).data).toEqual({ categories: [], total: 0, nextCursor: null })
  })

  it.each([
    ["corn ribs", "item_corn_ribs"],
    ["mushrom papardelle", "item_mushroom_pappardelle"],
    ["JALAPENO", "item_jalapeno_cornbread"],
    ["horseradish", "item_smoked_trout"],
    ["whitefsh", "item_lake_whitefish"],
    ["something with beef", "item_short_rib"]
  ])("search_catalog finds the right item first for %s", async (query, id) => {
    const { data } = await call(client, "search_catalog", { query })
    expect((data?.items as ReadonlyArray<unknown>)[0]).toMatchObject({ id })
  })

  it("search_catalog ranks a name above a description, keeps to a category and to the limit", async () => {
    const ids = async (args: Record<string, unknown>) =>
      ((await call(client, "search_catalog", args)).data?.items as Array<{ id: string }>).map(({ id }) => id)
    expect((await ids({ query: "lemon" })).slice(0, 2).toSorted()).toEqual(["item_house_lemonade", "item_lemon_tart"])
    expect(await ids({ query: "lemon", category: "Drinks" })).toEqual(["item_house_lemonade"])
    expect(await ids({ query: "lemon", limit: 1 })).toHaveLength(1)
    expect(await ids({ query: "zzzzqqqq" })).toEqual([])
  })

  it("get_item gives the details of one item", async () => {
    expect((await call(client, "get_item", { id: "item_whole_fish" })).data).toMatchObject({
      item: { price: "price on request", priceCents: null, isAvailable: false, metadata: { serves: 2 } }
    })
  })

  const foreign = Buffer.from(JSON.stringify(["", "item_of_another"])).toString("base64url")
  it.each([
    ["get_item", { id: "x".repeat(5000) }, `There is no item "${"x".repeat(99)}…"`],
    ["browse_catalog", { category: "x".repeat(5000) }, `There is no category "${"x".repeat(99)}…"`],
    ["search_catalog", { query: "a", category: "x".repeat(5000) }, `There is no category "${"x".repeat(99)}…"`],
    ["get_hours", { at: "x".repeat(5000) }, `"${"x".repeat(99)}…" is not a date and time`],
    ["browse_catalog", { limit: "x".repeat(5000) }, "right: \"limit\" must be an integer between 1 and 100."],
    ["browse_catalog", { ["x".repeat(5000)]: 1 }, `"${"x".repeat(99)}…" is not a known field`],
    ["get_item", { id: "item_unicorn" }, "There is no item \"item_unicorn\""],
    ["get_item", {}, "\"id\" is required"],
    ["get_item", { id: 5 }, "\"id\" must be a string"],
    ["browse_catalog", { cursor: "%%%" }, "The cursor is not one of this list"],
    ["browse_catalog", { cursor: foreign }, "The cursor is not one of this list"],
    ["browse_catalog", { category: "Sushi" }, "The categories are: Starters, Mains, Desserts, Drinks"],
    ["browse_catalog", { limit: 0 }, "\"limit\" must be an integer between 1 and 100"],
    ["browse_catalog", { limit: 101 }, "\"limit\""],
    ["browse_catalog", { limit: "5" }, "\"limit\" must be an integer between 1 and 100"],
    ["browse_catalog", { page: 2 }, "\"page\" is not a known field"],
    ["search_catalog", { query: "   " }, "\"query\" must not be empty"],
    ["search_catalog", { query: "a".repeat(201) }, "\"query\" must be at most 200 characters"],
    ["get_hours", { at: "tomorrow" }, "Write \"at\" as YYYY-MM-DDTHH:MM"],
    ["get_hours", { at: "2026-02-30T10:00" }, "Write \"at\" as YYYY-MM-DDTHH:MM"],
    ["get_hours", { at: "2026-03-14T25:00" }, "Write \"at\" as YYYY-MM-DDTHH:MM"],
    ["get_hours", { at: "2026-03-14" }, "Write \"at\" as YYYY-MM-DDTHH:MM"]
  ])("%s refuses %j with a sentence", async (name, args, message) => {
    const { isError, text } = await call(client, name, args)
    expect(isError).toBe(true)
    expect(text).toContain(message)
  })

  it("a cursor of one category is refused in another", async () => {
    const { data } = await call(client, "browse_catalog", { category: "Mains", limit: 1 })
    const { isError } = await call(client, "browse_catalog", { category: "Drinks", limit: 1, cursor: data?.nextCursor })
    expect(isError).toBe(true)
  })
})
