import { buildReadyImage } from "#src/ready-image/build-image.ts"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { businesses, newBusiness } from "../support/business.ts"
import { catalogOf, type Item, newCategory, newItem } from "../support/catalog.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { describeLong } from "../support/needs.ts"
import { type Flow, newFlow } from "../support/oauth.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { runSql } from "../support/sql.ts"
import { readyServerBundle } from "./bundle.ts"
import { restaurant } from "./config.ts"

const notLinux = process.platform === "linux" ? undefined : "the ready image is made of this Node, on Linux only"
const secret = "whsec_canary_7731"

describeLong("a business whose server is deployed", () => {
  const berth = useBerth({ machines: true, variables: { BERTH_HOME: temporaryDirectory("business") } })
  let flow: Flow
  let image: string
  let businessId: string
  let ribs: Item

  const deploy = async () => {
    const { body, text } = await flow.owner.request<{ readonly data: { readonly status: string } }>(
      "POST",
      `/v1/servers/${flow.server.id}/deploy`,
      { body: { imageUri: `oci:${image}` } }
    )
    if (body.data.status !== "running") throw new Error(text)
  }

  /** As an agent that came through the gateway. */
  const ask = async (tool: string, args: Readonly<Record<string, unknown>> = {}) => {
    const { access_token } = await flow.tokens()
    const client = await connectMcp(`${berth.url}/s/${flow.server.slug}`, { token: access_token })
    const names = (await client.listTools()).tools.map(({ name }) => name)
    const result = await callTool(client, tool, args)
    await client.close()
    return { names, data: result.structuredContent, text: JSON.stringify(result) }
  }

  beforeAll(async () => {
    flow = await newFlow(berth)
    // The tests ask often.
    await flow.owner.patch(`/v1/servers/${flow.server.id}`, { guestRequestsPerMinute: null })
    const bundle = join(temporaryDirectory("ready"), "server.js")
    copyFileSync(await readyServerBundle(), bundle)
    image = (await buildReadyImage(join(temporaryDirectory("ready"), "layout"), { server: bundle })).path
    businessId = (await newBusiness(flow.owner, { projectId: flow.project.id, templateType: "restaurant" })).id
    await flow.owner.patch(`${businesses}/${businessId}`, {
      serverId: flow.server.id,
      contact: { phone: "+15550142" },
      hours: { friday: { open: "11:30", close: "01:00" }, "2026-12-25": "closed" },
      integrations: { webhook: { secret } }
    })
    const starters = await newCategory(flow.owner, businessId, { name: "Starters" })
    ribs = await newItem(flow.owner, businessId, { priceCents: 899, categoryId: starters.id })
    // The customer's own is for servers that speak for no business.
    await flow.owner.put(`/v1/servers/${flow.server.id}/env/SVC_READY_CONFIG`, { value: JSON.stringify(restaurant) })
    await deploy()
  }, 120_000)
  afterAll(() => flow?.owner.delete(`/v1/projects/${flow.project.id}`))

  it("lists its menu to an agent, with prices, categories and hours, not the customer's variable", async () => {
    const menu = await ask("browse_catalog")
    expect(menu.data).toMatchObject({
      total: 1,
      categories: [{ name: "Starters", items: [{ name: "Corn Ribs", price: "$8.99" }] }]
    })
    expect((await ask("get_hours", { at: "2026-12-25T12:00" })).data).toMatchObject({ at: { isOpen: false } })
    const about = await ask("get_business")
    expect(about.data).toMatchObject({ name: "Copper Ladle", contact: { phone: "+15550142" } })
    expect(about.names).not.toContain("get_booking_options")
    for (const { text } of [menu, about]) expect(text).not.toContain(secret)
  })

  it("follows its business without a deployment, within ten seconds: a price, an item, a flag", async () => {
    await flow.owner.patch(`${catalogOf(businessId)}/items/${ribs.id}`, { priceCents: 950, isAvailable: false })
    await newItem(flow.owner, businessId, { name: "Lemon Tart" })
    await flow.owner.patch(`${businesses}/${businessId}`, { featureFlags: { appointmentBooking: true } })
    await expect.poll(async () => (await ask("get_item", { id: ribs.id })).data, { timeout: 10_000, interval: 500 })
      .toMatchObject({ item: { price: "$9.50", isAvailable: false } })
    const { data, names } = await ask("get_booking_options", { at: "2026-12-25T12:00" })
    expect(names).toContain("get_booking_options")
    expect(data).toMatchObject({ booked: false, contact: { phone: "+15550142" }, at: { isOpen: false } })
    expect((await ask("search_catalog", { query: "tart" })).data).toMatchObject({ count: 1 })
  }, 30_000)

  it("is given a catalog of 5,000 items too, and serves the last of them", async () => {
    await runSql(
      berth.databaseUrl,
      `INSERT INTO catalog_items (id, business_id, name, description, item_type, price_type, price_cents, sort_order)
       SELECT '01BULK' || lpad(i::text, 20, '0'), $1, 'Dish ' || i, repeat('tasty ', 20), 'menu_item', 'fixed', i, i + 10
       FROM generate_series(1, 4998) i`,
      [businessId]
    )
    await deploy()
    expect((await ask("get_item", { id: `01BULK${"4998".padStart(20, "0")}` })).data)
      .toMatchObject({ item: { name: "Dish 4998", price: "$49.98" } })
  }, 60_000)

  it("keeps the credentials of its integrations to itself and the owner's configuration: no log has them", async () => {
    const { text } = await flow.owner.request("GET", `/v1/servers/${flow.server.id}/logs?limit=200`)
    for (const said of [text, ...berth.logged]) expect(said).not.toContain(secret)
    expect((await flow.owner.request("GET", `${businesses}/${businessId}/config`)).text).toContain(secret)
  })

  it("goes on with the last it knew when the business is deleted", async () => {
    expect((await flow.owner.delete(`${businesses}/${businessId}`)).status).toBe(204)
    expect((await ask("get_business")).data).toMatchObject({ name: "Copper Ladle" })
  })
}, notLinux)
