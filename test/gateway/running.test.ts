import { buildReadyImage } from "#src/ready-image/build-image.ts"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { afterAll, beforeAll, expect, it } from "vitest"
import { readyServerBundle } from "../ready-server/bundle.ts"
import { restaurant } from "../ready-server/config.ts"
import { type Account, dataOf, type Project, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { describeLong } from "../support/needs.ts"
import { DatabaseProxy } from "../support/proxy.ts"
import { temporaryDirectory } from "../support/Settings.ts"

const notLinux = process.platform === "linux" ? undefined : "the ready image is made of this Node, on Linux only"

const description = "Slow-cooked with smoked paprika, roasted garlic and a squeeze of lime. ".repeat(8)
const items = Array.from(
  { length: 1000 },
  (_, i) => ({ id: `item_${i}`, name: `Dish ${i}`, description, priceCents: i })
)
const config = JSON.stringify({ ...restaurant, catalog: { categories: [], items } })

describeLong("a ready server in the running platform", () => {
  const proxy = new DatabaseProxy()
  const berth = useBerth({ machines: true, through: proxy.through })
  let owner: Account
  let project: Project
  let server: Server
  let token = ""

  beforeAll(async () => {
    owner = await berth.signUp("enterprise")
    project = await owner.project()
    server = await owner.server(project.id)
    const home = temporaryDirectory("ready")
    const bundle = join(home, "server.js")
    copyFileSync(await readyServerBundle(), bundle)
    const { path } = await buildReadyImage(join(home, "layout"), { server: bundle })
    expect(config.length).toBeGreaterThan(600_000)
    const set = await owner.put(`/v1/servers/${server.id}/env/SVC_READY_CONFIG`, { value: config })
    expect(set.status).toBe(201)
    const deployed = await owner.post(`/v1/servers/${server.id}/deploy`, { imageUri: `oci:${path}` })
    expect([deployed.status, deployed.body]).toMatchObject([201, { data: { status: "running" } }])
    token = dataOf(
      await owner.request<{ data: { accessToken: string } }>("POST", `/v1/servers/${server.id}/test-token`)
    ).accessToken
  }, 60_000)
  afterAll(async () => {
    await owner.delete(`/v1/projects/${project.id}`)
    await proxy.cut()
  })

  const counted = async () =>
    dataOf(await owner.get<{ data: { usage: { requestCount: number } } }>("/v1/billing")).usage.requestCount
  /** What was asked before is written every three seconds. */
  const settledCount = async () => {
    berth.hurry(3_000)
    await setTimeout(1_000)
    return counted()
  }
  const health = () => berth.request("GET", `/s/${server.slug}/healthz`, { token })

  it("serves a thousand items with long descriptions, which no variable could hold", async () => {
    const client = await connectMcp(server.publicUrl, { token, way: "Streamable HTTP" })
    const { content } = await callTool(client, "get_item", { id: "item_999" })
    expect(JSON.stringify(content)).toContain("$9.99")
    await client.close()
  })

  it("has variables of 96 KiB, and 768 KiB in all beside its configuration", async () => {
    const { id } = await owner.server(project.id)
    const set = (name: string, value: string) => owner.put(`/v1/servers/${id}/env/${name}`, { value })
    const most = "é".repeat(48 * 1024)
    expect((await set("SVC_READY_CONFIG", config)).status).toBe(201)
    for (let i = 0; i < 8; i++) expect((await set(`V${i}`, most)).status).toBe(201)
    expect((await set("V0", `${most}.`)).body).toMatchObject({ error: { code: "VALIDATION_ERROR" } })
    const over = await set("ONE_MORE", "12345678")
    expect([over.status, over.body]).toMatchObject([409, { error: { message: expect.stringContaining("768 KiB") } }])
    expect((await set("V0", "shorter")).status).toBe(200)
    expect((await set("ONE_MORE", "12345678")).status).toBe(201)
  })

  it("goes on being served, by the routes last known, while the database is away", async () => {
    const before = await settledCount()
    expect((await health()).status).toBe(200)
    await proxy.cut()
    // Longer than a route is kept once the changes of servers are no longer heard of.
    for (let i = 0; i < 8; i++) {
      await setTimeout(500)
      expect((await health()).status, String(i)).toBe(200)
    }
    expect((await berth.request("GET", "/v1/projects", { token: owner.token })).status).toBe(503)
    await proxy.mend()
    for (let i = 0; i < 100 && (await owner.get("/v1/projects")).status !== 200; i++) await setTimeout(100)
    expect((await health()).status).toBe(200)
    for (let i = 0; i < 100 && (await counted()) < before + 10; i++) {
      berth.hurry(3_000)
      await setTimeout(100)
    }
    expect(await counted(), "none is lost").toBe(before + 10)
  })
}, notLinux)
