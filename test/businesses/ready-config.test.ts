import { ReadyConfig } from "#src/format/ReadyConfig.ts"
import { Schema } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Business, businesses, newBusiness } from "../support/business.ts"
import { catalogOf, newCategory, newItem } from "../support/catalog.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { itLong } from "../support/needs.ts"
import { newFlow, replayToken } from "../support/oauth.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
})

interface Answer {
  readonly data: Readonly<Record<string, unknown>>
}
const self = "/api/v1/ready/self/config"
const configPath = (id: string) => `${businesses}/${id}/config`
const read = (id: string) => owner.get<Answer>(configPath(id))
const configOf = async (id: string) => (await read(id)).body.data

/** A business that a server speaks for. */
const linked = async (fields: Readonly<Record<string, unknown>> = {}): Promise<[Business, Server]> => {
  const project = await owner.project()
  const server = await owner.server(project.id)
  const business = await newBusiness(owner, { projectId: project.id, ...fields })
  await owner.patch(`${businesses}/${business.id}`, { serverId: server.id })
  return [business, server]
}

describe("a business's configuration", () => {
  it("is made once a server is linked, with gaps empty, coordinates null, and what is not there absent", async () => {
    const [business, server] = await linked({ templateType: "salon" })
    expect(await configOf(business.id)).toStrictEqual({
      version: "2.0",
      serverId: server.id,
      templateType: "salon",
      business: { name: "Copper Ladle", description: "", category: "salon" },
      contact: {
        phone: "",
        email: "",
        website: "",
        address: { line1: "", city: "", state: "", zip: "", country: "" },
        coordinates: null
      },
      hours: {},
      featureFlags: {
        appointmentBooking: false,
        onlineOrdering: false,
        quoteRequests: false,
        faq: false,
        menuBrowsing: false
      }
    })
  })

  it("has every field of the contract's table", async () => {
    const [{ id }, server] = await linked({ description: "Wood fire", templateType: "restaurant" })
    const address = { line1: "418 Harbor Street", city: "Millbrook", state: "IL", zip: "60601", country: "US" }
    const contact = { phone: "+15550142", email: "a@example.com", website: "https://x.example", address }
    const hours = {
      monday: "closed",
      friday: { open: "11:30", close: "01:00" },
      "2026-12-25": "closed",
      "2026-12-31": { open: "17:00", close: "24:00" }
    }
    await owner.patch(`${businesses}/${id}`, {
      category: "New American",
      contact: { ...contact, coordinates: { lat: 41.8853, lng: -87.6216 } },
      hours,
      featureFlags: { menuBrowsing: true },
      integrations: { webhook: { url: "https://hook.example", secret: "whsec_canary" } },
      analytics: { enabled: true, reportingEndpoint: "https://stats.example" }
    })
    const soups = await newCategory(owner, id)
    const item = await newItem(owner, id, {
      description: "Lime",
      categoryId: soups.id,
      priceCents: 899,
      priceType: "starting_at",
      metadata: { vegan: true }
    })
    const config = await configOf(id)
    expect(config).toStrictEqual({
      version: "2.0",
      serverId: server.id,
      templateType: "restaurant",
      business: { name: "Copper Ladle", description: "Wood fire", category: "New American" },
      contact: { ...contact, coordinates: { lat: 41.8853, lng: -87.6216 } },
      hours,
      catalog: {
        categories: [{ id: soups.id, name: "Soups", sortOrder: 0 }],
        items: [{
          id: item.id,
          name: "Corn Ribs",
          description: "Lime",
          categoryId: soups.id,
          priceCents: 899,
          priceType: "starting_at",
          isAvailable: true,
          metadata: { vegan: true }
        }]
      },
      featureFlags: {
        appointmentBooking: false,
        onlineOrdering: false,
        quoteRequests: false,
        faq: false,
        menuBrowsing: true
      },
      integrations: { webhook: { url: "https://hook.example", secret: "whsec_canary" } },
      analytics: { enabled: true, reportingEndpoint: "https://stats.example" }
    })
    expect(Schema.decodeUnknownSync(ReadyConfig)(config)).toStrictEqual(config)
  })

  it("is never older than the business: edits, items, and what is taken away again", async () => {
    const [{ id }] = await linked()
    expect(await configOf(id)).not.toHaveProperty("catalog")
    const item = await newItem(owner, id)
    expect(await configOf(id)).toMatchObject({ catalog: { items: [{ id: item.id, isAvailable: true }] } })
    await owner.patch(`${catalogOf(id)}/items/${item.id}`, { isAvailable: false, priceCents: 5 })
    expect(await configOf(id)).toMatchObject({ catalog: { items: [{ isAvailable: false, priceCents: 5 }] } })
    await owner.delete(`${catalogOf(id)}/items/${item.id}`)
    expect(await configOf(id)).toMatchObject({ catalog: { categories: [], items: [] } })
    await owner.patch(`${businesses}/${id}`, {
      name: "Renamed",
      integrations: { crm: {} },
      analytics: { enabled: true }
    })
    expect(await configOf(id)).toMatchObject({ business: { name: "Renamed" }, integrations: { crm: {} } })
    await owner.patch(`${businesses}/${id}`, { integrations: null, analytics: null })
    const bare = await configOf(id)
    expect(bare).not.toHaveProperty("integrations")
    expect(bare).not.toHaveProperty("analytics")
  })

  it("has the items and categories in their order", async () => {
    const [{ id }] = await linked()
    for (const name of ["B", "C"]) await newItem(owner, id, { name })
    await newItem(owner, id, { name: "A", sortOrder: 0 })
    const { items } = (await configOf(id))["catalog"] as { items: ReadonlyArray<{ name: string }> }
    expect(items.map(({ name }) => name)).toEqual(["A", "B", "C"])
  })

  it("has custom fields only with the flag faq, for which they are", async () => {
    const [{ id }] = await linked()
    await owner.patch(`${businesses}/${id}`, { customFields: { Parking: "Free" } })
    expect((await configOf(id))["business"]).not.toHaveProperty("customFields")
    await owner.patch(`${businesses}/${id}`, { featureFlags: { faq: true } })
    expect((await configOf(id))["business"]).toMatchObject({ customFields: { Parking: "Free" } })
  })

  it("may be kept for ten seconds by its reader alone; a refusal is not said to be", async () => {
    const [{ id }] = await linked()
    expect((await read(id)).headers.get("cache-control")).toBe("private, max-age=10")
    const other = await newBusiness(owner)
    expect((await read(other.id)).headers.get("cache-control")).toBeNull()
  })

  it("is 404 config_not_generated while no server is linked, and again when it is unlinked or deleted", async () => {
    const notYet = { status: 404, body: { error: { code: "config_not_generated" } } }
    expect(await read((await newBusiness(owner)).id)).toMatchObject(notYet)
    const [unlinked] = await linked()
    await owner.patch(`${businesses}/${unlinked.id}`, { serverId: null })
    expect(await read(unlinked.id)).toMatchObject(notYet)
    const [orphan, server] = await linked()
    await owner.delete(`/v1/servers/${server.id}`)
    expect(await read(orphan.id)).toMatchObject(notYet)
  })

  it("is 400 bad_request for an id that is missing or longer than 26 characters, 404 for any other", async () => {
    for (const id of ["x".repeat(27), "x".repeat(200), `${"0".repeat(26)}%20`]) {
      expect(await read(id)).toMatchObject({ status: 400, body: { error: { code: "bad_request" } } })
    }
    for (const id of ["x", "01J00000000000000000000000", "x".repeat(26)]) {
      expect(await read(id)).toMatchObject({ status: 404, body: { error: { code: "not_found" } } })
    }
    expect(await read("")).toMatchObject({ status: 400, body: { error: { code: "bad_request" } } })
  })

  it("is for its owner's session, and for a key of its project with servers:read", async () => {
    const [{ id, projectId }] = await linked()
    const config = await configOf(id)
    expect((await (await owner.holder(projectId, ["servers:read"])).get<Answer>(configPath(id))).body.data).toEqual(
      config
    )
    const without = await owner.holder(projectId, ["servers:write", "deployments:write"])
    expect(await without.get(configPath(id))).toMatchObject({ status: 403, body: { error: { code: "forbidden" } } })
    const beside = await owner.holder((await owner.project()).id, ["servers:read"])
    const stranger = await berth.signUp()
    for (const holder of [beside, stranger]) {
      expect(await holder.get(configPath(id))).toMatchObject({ status: 404, body: { error: { code: "not_found" } } })
    }
    expect(await berth.request("GET", configPath(id))).toMatchObject({
      status: 401,
      body: { error: { code: "unauthorized" } }
    })
  })

  describe("with integrations", () => {
    const integrations = { crm: { token: "tok_canary_9917" } }
    const shown = { serverId: expect.any(String), integrations }

    it("shows them to a session and to a key that may change servers; another key reads the rest", async () => {
      const [{ id, projectId }] = await linked()
      await owner.patch(`${businesses}/${id}`, { integrations })
      const { integrations: _integrations, ...rest } = await configOf(id)
      expect(await configOf(id)).toMatchObject(shown)
      const by = async (...scopes: ReadonlyArray<string>) =>
        (await owner.holder(projectId, scopes)).get<Answer>(configPath(id))
      expect((await by("servers:read", "servers:write")).body.data).toMatchObject(shown)
      const reader = await by("servers:read", "deployments:write", "logs:read")
      expect(reader.body.data).toStrictEqual(rest)
      expect(reader.text).not.toContain("canary")
      // One address, several answers: what keeps one must not hand it to another credential.
      expect(reader.headers.get("vary")).toBe("Authorization, Cookie")
    })

    it("shows them to the server itself, by their own tag", async () => {
      const [{ id }, server] = await linked()
      const ask = async () => berth.request<Answer>("GET", self, { token: await replayToken(berth, server.id) })
      const before = await ask()
      await owner.patch(`${businesses}/${id}`, { integrations })
      const after = await ask()
      expect(before.body.data).not.toHaveProperty("integrations")
      expect(after.body.data).toMatchObject(shown)
      expect(after.headers.get("etag")).not.toBe(before.headers.get("etag"))
    })

    it("shows them over MCP by the same rule: to a session, keys and clients", async () => {
      const [{ id, projectId }] = await linked()
      await owner.patch(`${businesses}/${id}`, { integrations })
      const flow = Object.assign(await newFlow(berth), { user: owner })
      const client = async (scope: string) => (await flow.tokens({ resource: `${berth.url}/mcp`, scope })).access_token
      const tokens = {
        session: owner.token,
        writer: (await owner.key(projectId, ["servers:read", "servers:write"])).key,
        reader: (await owner.key(projectId, ["servers:read"])).key,
        clientReads: await client("servers:read"),
        clientWrites: await client("servers:read servers:write"),
        clientIsUser: await client("servers:read account")
      }
      const read = async (token: string) => {
        const mcp = await connectMcp(berth.url, { token })
        const { structuredContent } = await callTool(mcp, "business_config", { businessId: id })
        await mcp.close()
        return (structuredContent as { integrations?: unknown }).integrations !== undefined
      }
      const found: Record<string, boolean> = {}
      for (const [who, token] of Object.entries(tokens)) found[who] = await read(token)
      expect(found).toEqual({
        session: true,
        writer: true,
        reader: false,
        clientReads: false,
        clientWrites: true,
        clientIsUser: true
      })
    })
  })

  it("is the same to the tool business_config", async () => {
    const [{ id }] = await linked()
    await newItem(owner, id, { metadata: { any: [1, { deep: null }] } })
    const client = await connectMcp(berth.url, { token: owner.token })
    expect((await callTool(client, "business_config", { businessId: id })).structuredContent).toEqual(
      await configOf(id)
    )
    await client.close()
  })

  itLong("of 5,000 items is made without delay", async () => {
    const [{ id }] = await linked()
    await newItem(owner, id)
    await runSql(
      berth.databaseUrl,
      `INSERT INTO catalog_items (id, business_id, name, description, item_type, price_type, price_cents, sort_order)
       SELECT '01BULK' || lpad(i::text, 20, '0'), $1, 'Dish ' || i, repeat('tasty ', 20), 'menu_item', 'fixed', i, i
       FROM generate_series(1, 4999) i`,
      [id]
    )
    await read(id)
    const times: Array<number> = []
    for (let round = 0; round < 10; round++) {
      const began = performance.now()
      expect((await read(id)).text.length).toBeGreaterThan(1_000_000)
      times.push(performance.now() - began)
    }
    const median = times.sort((a, b) => a - b)[5] ?? Infinity
    console.log(`a configuration of 5,000 items: ${median.toFixed(1)} ms over HTTP, parsed`)
    expect(median).toBeLessThan(1000)
  })
})

describe("a server that asks for its own configuration", () => {
  const ask = (token: string | undefined, headers: Readonly<Record<string, string>> = {}) =>
    berth.request<Answer>("GET", self, { token, headers })

  it("hears that of the business it speaks for, and 304 until that changes", async () => {
    const [{ id }, server] = await linked()
    const token = await replayToken(berth, server.id)
    const first = await ask(token)
    const etag = first.headers.get("etag") ?? ""
    expect([first.status, first.body.data]).toEqual([200, await configOf(id)])
    expect(first.headers.get("content-type")).toMatch(/^application\/json/)
    for (const sent of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await ask(token, { "if-none-match": sent })
      expect([again.status, again.text, again.headers.get("etag")], sent).toEqual([304, "", etag])
    }
    await newItem(owner, id)
    const changed = await ask(token, { "if-none-match": etag })
    expect([changed.status, changed.body.data]).toEqual([200, await configOf(id)])
    expect(changed.headers.get("etag")).not.toBe(etag)
  })

  it("hears of no other business, whatever it sends, and of nothing else of the platform", async () => {
    const [mine, server] = await linked()
    const [other] = await linked({ name: "Another" })
    const token = await replayToken(berth, server.id)
    expect((await ask(token)).body.data).toMatchObject({ serverId: server.id })
    for (
      const path of [
        configPath(other.id),
        configPath(mine.id),
        businesses,
        `/v1/servers/${server.id}`,
        catalogOf(mine.id)
      ]
    ) {
      expect((await berth.request("GET", path, { token })).status, path).toBe(401)
    }
    expect((await berth.request("GET", `${self}?businessId=${other.id}`, { token })).body).toMatchObject({
      data: { serverId: server.id }
    })
  })

  it("is 404 config_not_generated without a business", async () => {
    const server = await owner.server((await owner.project()).id)
    expect(await ask(await replayToken(berth, server.id))).toMatchObject({
      status: 404,
      body: { error: { code: "config_not_generated" } }
    })
  })

  it("is a hosted server: a session, a key, a guess and nobody are 401", async () => {
    const [{ projectId }] = await linked()
    const key = await owner.key(projectId)
    for (const token of [owner.token, key.key, "guessed", "", undefined]) {
      expect(await ask(token)).toMatchObject({ status: 401, body: { error: { code: "unauthorized" } } })
    }
  })
})
