import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { run, type Running, start } from "../ready-server/bundle.ts"
import { restaurant } from "../ready-server/config.ts"
import { businesses } from "../support/business.ts"
import { callTool } from "../support/mcp.ts"
import { describeLong } from "../support/needs.ts"
import { replayToken } from "../support/oauth.ts"
import { runSql } from "../support/sql.ts"
import { look, useThreeMembers } from "./three-members.ts"

const three = useThreeMembers()
const { berth, live, members, servers, slugOf, withClient } = three

const patience = { timeout: 20_000, interval: 500 }
const names = (at?: string) =>
  withClient(async (client) => (await client.listTools()).tools.map(({ name }) => name), undefined, at)
const switchOn = (businessId: string, flag: string) =>
  three.owner.patch(`${businesses}/${businessId}`, { featureFlags: { [flag]: true } })
/** Servers that changed are asked now, as if they had had time to know of it. */
const askNow = async () => {
  await runSql(
    berth.databaseUrl,
    "UPDATE stale_tools SET due_at = now(), marked_at = marked_at - interval '10 seconds'",
    []
  )
  berth.hurry(2_000)
}
const marked = (serverId: string) =>
  runSql(berth.databaseUrl, "SELECT tries FROM stale_tools WHERE server_id = $1", [serverId])

describe("a business whose feature is switched", () => {
  const running: Array<Running> = []
  afterAll(() => Promise.all(running.map((one) => one.stop())))

  let ready: (typeof members)[number]
  let path = ""
  beforeAll(async () => {
    // Deployed once, then the machine that follows its business on the platform.
    const first = await start(restaurant)
    running.push(first)
    ready = await live.add(berth, three.owner, "ready", first.url)
    const second = await run({
      PORT: "0",
      SVC_READY_CONFIG: JSON.stringify({ ...restaurant, featureFlags: ready.business.featureFlags }),
      SVC_MCP_PUBLIC_URL: ready.server.publicUrl,
      OAUTH_BASE_URL: berth.url,
      PLATFORM_MCP_REPLAY_TOKEN: await replayToken(berth, ready.server.id)
    })
    if (!("url" in second)) throw new Error(second.stderr)
    running.push(second)
    live.move(ready, second.url)
    path = await three.compositeOf([ready])
  }, 60_000)

  it("has its new tools in composites within seconds", async () => {
    await expect.poll(async () => (await askNow(), marked(ready.server.id)), patience).toEqual([])
    await three.owner.patch(`${businesses}/${ready.business.id}`, { featureFlags: { quoteRequests: false } })
    const quote = `${ready.slug}__get_quote_options`
    await expect.poll(() => names(path), patience).not.toContain(quote)
    await switchOn(ready.business.id, "quoteRequests")
    await expect.poll(() => names(path), patience).toContain(quote)
    await withClient(
      async (client) =>
        expect(await callTool(client, quote)).toMatchObject({ structuredContent: { requested: false } }),
      undefined,
      path
    )
    await expect.poll(async () => (await askNow(), marked(ready.server.id)), patience).toEqual([])
  }, 90_000)
})

describeLong("a server whose business changed", () => {
  const added = { ...look, name: "added" }

  it("is not asked while it is stopped, but when it runs", async () => {
    const [{ business, server }] = [members[0]!]
    await runSql(berth.databaseUrl, "UPDATE servers SET status = 'stopped' WHERE id = $1", [server.id])
    servers[0]!.tools = [...servers[0]!.tools, added]
    await switchOn(business.id, "quoteRequests")
    for (let turn = 0; turn < 3; turn++) {
      await askNow()
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    expect(await marked(server.id)).toEqual([{ tries: 0 }])
    await runSql(berth.databaseUrl, "UPDATE servers SET status = 'running' WHERE id = $1", [server.id])
    await expect.poll(async () => (await askNow(), names()), patience).toContain(`${slugOf(0)}__added`)
  }, 60_000)

  it("keeps the tools that it listed when it does not answer", async () => {
    const { business, server } = members[1]!
    const before = await names()
    live.move(members[1]!, "http://127.0.0.1:9")
    await switchOn(business.id, "quoteRequests")
    await askNow()
    await expect.poll(() => marked(server.id), patience).toEqual([{ tries: 1 }])
    expect(await names()).toEqual(before)
    live.move(members[1]!, servers[1]!.url)
  }, 60_000)

  it("is not marked by a change that its tools don't depend on", async () => {
    const { business, server } = members[2]!
    await expect.poll(async () => (await askNow(), marked(server.id)), patience).toEqual([])
    await three.owner.patch(`${businesses}/${business.id}`, { contact: { phone: "+13035550123" } })
    expect(await marked(server.id)).toEqual([])
  }, 60_000)
})
