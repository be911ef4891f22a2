import { Effect, Exit, Scope } from "effect"
import { readFileSync } from "node:fs"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"
import { decideOn } from "../support/checkout.ts"
import { freshDatabaseUrl } from "../support/Database.ts"
import { freePort, send, type Sent } from "../support/http.ts"
import { describeLong } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"
import { type Owner, owner } from "./support/owner.ts"
import { build, clear, newPlace, type Place, type Program, run, sweep } from "./support/program.ts"

const call = (pad: string) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "get_business", arguments: {}, _meta: { pad } }
})
const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** Processes whose parent is that one. */
const childrenOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number)

describeLong("a plan at two gateway processes", () => {
  const scope = Effect.runSync(Scope.make())
  let place: Place
  let databaseUrl: string
  let platform: Program
  let gateways: Program
  let me: Owner
  let token: string

  beforeAll(async () => {
    place = await newPlace()
    await build(place)
    databaseUrl = await Effect.runPromise(Scope.extend(freshDatabaseUrl, scope))
    const variables = { DATABASE_URL: databaseUrl, TRUST_PROXY: "1" }
    platform = run(place, ["node", "dist/berth.js", "serve"], variables)
    await platform.printed(/npx berth call .*\n/)
    const beside = { ...place, port: await freePort() }
    gateways = run(beside, ["node", "dist/berth.js", "serve", "--role", "gateway", "--processes", "2"], {
      ...variables,
      BASE_URL: platform.url
    })
    await gateways.printed(/ready on .*, with 2 processes/)
    me = await owner(platform)
    token = await me.testToken()
  }, 240_000)
  afterAll(async () => {
    await gateways?.end("SIGTERM")
    await platform?.end("SIGTERM")
    sweep(place)
    clear(place)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }, 60_000)

  const sql = (statement: string, ...values: ReadonlyArray<unknown>) => runSql(databaseUrl, statement, values)
  const account = "(SELECT id FROM users WHERE email = 'demo@berth.localhost')"
  const billing = async () =>
    (await me.request<{
      data: { plan: string; usage: { requestCount: number; bandwidthBytes: number }; currentPeriodStart: string }
    }>("GET", "/v1/billing")).body.data

  /** On a connection of its own, so that either process may take it. */
  const ask = (pad = "") =>
    send<{ error?: { code: string; details: object } }>(
      `http://127.0.0.1:${gateways.place.port}`,
      "POST",
      "/s/copper-ladle/mcp",
      {
        token,
        headers: { accept: "application/json, text/event-stream", connection: "close" },
        body: call(pad)
      }
    )
  const asked = (times: number) => Promise.all(Array.from({ length: times }, () => ask()))
  /** What all of them answer, a moment after a change. */
  const answersOf = async (times = 16) => {
    await sleep(500)
    return [...new Set((await asked(times)).map(({ status }) => status))].join()
  }
  /** Of the current period, and of a plan. */
  const use = async (plan: string, requests: number) => {
    await sql(`UPDATE users SET plan = $1 WHERE id = ${account}`, plan)
    const { currentPeriodStart } = await billing()
    await sql(
      `INSERT INTO usage (account_id, period, request_count) VALUES (${account}, $1, $2)
        ON CONFLICT (account_id, period) DO UPDATE SET request_count = excluded.request_count`,
      currentPeriodStart,
      requests
    )
  }
  // What was counted before is written by then.
  beforeEach(() => sleep(3_500))

  it(
    "lets exactly as many requests through as the month has left, and tells the others when the next begins",
    async () => {
      await use("free", 9_970)
      await sleep(500)
      const answers = await asked(90)
      const refused = answers.filter(({ status }) => status === 429)
      expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([30, 60])
      const now = new Date()
      const next = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1))
      for (const { body, headers } of refused) {
        expect(body.error).toMatchObject({
          code: "PLAN_LIMIT_REACHED",
          details: { limit: "requestsPerMonth", used: 10_000, allowed: 10_000, resetsAt: next.toISOString() }
        })
        expect(Math.abs(Number(headers.get("retry-after")) - (next.getTime() - now.getTime()) / 1000)).toBeLessThan(30)
      }
      await sleep(3_500)
      expect((await billing()).usage.requestCount).toBe(10_000)
    },
    60_000
  )

  it("counts every request and every byte once", async () => {
    await use("developer", 0)
    const { usage: before } = await billing()
    const pads = Array.from({ length: 60 }, (_, i) => "x".repeat(i * 100))
    const answers = await Promise.all(pads.map((pad) => ask(pad)))
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    const bytes = (text: string) => Buffer.byteLength(text)
    const sent = pads.reduce((sum, pad) => sum + bytes(JSON.stringify(call(pad))), 0)
    const received = answers.reduce((sum, { text }) => sum + bytes(text), 0)
    await sleep(3_500)
    const { usage } = await billing()
    expect([usage.requestCount - before.requestCount, usage.bandwidthBytes - before.bandwidthBytes]).toEqual([
      60,
      sent + received
    ])
  }, 60_000)

  it("of another size counts at once, whoever changes it", async () => {
    await use("free", 10_000)
    expect(await answersOf()).toBe("429")
    // The checkout: paid on the page of the stand-in.
    const { url } = (await me.request<{ data: { url: string } }>("POST", "/v1/billing/subscribe", {
      body: { plan: "developer" }
    })).body.data
    const request = <Body>(method: string, path: string, sent?: Sent) => send<Body>(platform.url, method, path, sent)
    await decideOn({ url: platform.url, request }, url.slice(platform.url.length), "pay")
    expect((await billing()).plan).toBe("developer")
    expect(await answersOf()).toBe("200")
    // A switch, up and down.
    await sleep(3_500)
    await use("developer", 100_000)
    expect(await answersOf()).toBe("429")
    expect((await me.request("PATCH", "/v1/billing/plan", { body: { plan: "pro" } })).status).toBe(204)
    expect(await answersOf()).toBe("200")
    expect((await me.request("PATCH", "/v1/billing/plan", { body: { plan: "developer" } })).status).toBe(204)
    expect(await answersOf()).toBe("429")
    // The operator.
    const admin = run(place, ["node", "dist/berth.js", "admin", "plan", "demo@berth.localhost", "enterprise"], {
      DATABASE_URL: databaseUrl
    })
    await admin.printed(/is on the enterprise plan/)
    expect(await answersOf()).toBe("200")
  }, 90_000)

  it("loses what a killed process counted in its last three seconds, and no more", async () => {
    await use("pro", 0)
    const { usage: before } = await billing()
    await asked(40)
    await sleep(3_500)
    expect((await billing()).usage.requestCount).toBe(before.requestCount + 40)
    const workers = childrenOf(gateways.pid)
    await asked(10)
    for (const pid of workers) process.kill(pid, "SIGKILL")
    await expect.poll(async () => (await ask().catch(() => undefined))?.status, { timeout: 20_000 }).toBe(200)
    await sleep(3_500)
    const { requestCount } = (await billing()).usage
    expect(requestCount - before.requestCount).toBeGreaterThanOrEqual(41)
    expect(requestCount - before.requestCount).toBeLessThanOrEqual(51)
    await asked(20)
    await sleep(3_500)
    expect((await billing()).usage.requestCount).toBe(requestCount + 20)
  }, 60_000)
})
