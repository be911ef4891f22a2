import { allMcpScopes } from "#src/oauth/scopes/scopes.ts"
import { Effect, Exit, Scope } from "effect"
import { text } from "node:stream/consumers"
import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { Berth, useBerth } from "../support/Berth.ts"
import { goodBodies } from "../support/bodies.ts"
import { freshDatabaseUrl } from "../support/Database.ts"
import { mint, secretKey } from "../support/mint.ts"
import { runSql } from "../support/sql.ts"
import { type Conduct, healthy, StartableMachines } from "../support/startable-machines.ts"
import { type Sleeper, sleeper } from "./support/sleeper.ts"

const pause = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

/** A server of MCP with a tool that changes something, which takes a token that begins with "good". */
const mcp: Conduct["listener"] = (req, res) =>
  void text(req).then((body) => {
    const json = (status: number, value: unknown) =>
      res.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
    if (req.url === "/healthz") return json(200, {})
    if (req.url === "/guarded") return json(/^Bearer good/.test(req.headers.authorization ?? "") ? 200 : 401, {})
    const { id, method } = JSON.parse(body) as { id?: number; method: string }
    const change = { name: "change", inputSchema: { type: "object" }, annotations: { readOnlyHint: false } }
    const result = method === "initialize"
      ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "m", version: "1" } }
      : method === "tools/list"
      ? { tools: [change] }
      : { content: [] }
    if (id === undefined) return void res.writeHead(202).end()
    json(200, { jsonrpc: "2.0", id, result })
  })

describe("a server that sleeps, and who calls it", () => {
  const machines = new StartableMachines()
  const berth = useBerth({ machines: machines.layer, variables: secretKey })
  const sql = (statement: string, ...values: ReadonlyArray<unknown>) => runSql(berth.databaseUrl, statement, values)
  beforeEach(() => void (machines.conduct = { delay: 0, listener: mcp }))
  afterAll(machines.clear)

  const startsOf = ({ machine }: Sleeper) => machines.starts.filter((name) => name === machine).length
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "change", arguments: {} } }
  const tokenOf = (one: Sleeper, scope: string) =>
    mint(berth, {
      accountId: one.owner.id,
      audience: one.server.publicUrl,
      scope,
      clientId: "c",
      serverId: one.server.id
    })
  const ask = (one: Sleeper, token: string) =>
    one.ask("/mcp", { token, body: call, headers: { accept: "application/json, text/event-stream" } }, "POST")

  it("is woken before a token's scopes are compared with its tools, which only it can tell", async () => {
    const one = await sleeper(berth, machines)
    const narrow = await tokenOf(one, "mcp:read")
    const all = await tokenOf(one, allMcpScopes)
    expect((await ask(one, narrow)).status).toBe(403)
    await one.fallAsleep()
    expect((await ask(one, narrow)).status, "as when it was awake").toBe(403)
    await one.fallAsleep()
    expect((await ask(one, all)).status).toBe(200)
    expect(startsOf(one)).toBe(2)
  })

  it("is not woken for an account whose month is used up", async () => {
    const account = await berth.signUp("free")
    const one = await sleeper(berth, machines, {}, account)
    await one.fallAsleep()
    await sql(
      `INSERT INTO usage (account_id, period, request_count) SELECT $1, usage_period(NULL, (now() AT TIME ZONE 'UTC')::date), 20000
       ON CONFLICT (account_id, period) DO UPDATE SET request_count = 20000`,
      account.id
    )
    expect((await one.ask("/guarded")).status).toBe(429)
    expect(startsOf(one)).toBe(0)
    expect(await one.read()).toMatchObject({ asleep: true })
  })

  it("in byoa mode is woken by any token, of an address ten times a minute, and kept awake by none that it refuses", async () => {
    const one = await sleeper(berth, machines)
    const configured = await one.owner.put(`/v1/servers/${one.server.id}/auth`, {
      authMode: "byoa",
      byoaConfig: goodBodies["PUT /v1/servers/{serverId}/auth"]?.byoaConfig
    })
    expect(configured.status).toBe(200)
    expect((await one.ask("/guarded", { token: "good" })).status).toBe(200)
    await one.fallAsleep()
    expect((await one.ask("/guarded", { token: "bad" })).status, "the machine says so").toBe(401)
    expect(startsOf(one)).toBe(1)
    const usedAt = async () =>
      (await sql("SELECT max(used_at) AS at FROM server_use WHERE server_id = $1", one.server.id))[0]?.["at"]
    berth.hurry(3_000)
    await pause(200)
    const before = await usedAt()
    expect((await one.ask("/guarded", { token: "bad" })).status).toBe(401)
    berth.hurry(3_000)
    await pause(200)
    expect(await usedAt()).toEqual(before)
    expect((await one.ask("/guarded", { token: "good" })).status).toBe(200)
    berth.hurry(3_000)
    await pause(200)
    expect(await usedAt()).not.toEqual(before)

    await one.fallAsleep()
    machines.conduct = { delay: 1_000, listener: mcp }
    const headers = { "x-forwarded-for": "203.0.113.7" }
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => one.ask("/guarded", { token: "good", headers }))
    )
    const refused = answers.filter(({ status }) => status === 503)
    expect(refused).toHaveLength(2)
    expect(refused[0]?.body).toMatchObject({
      error: { message: expect.stringContaining("more than 10 requests a minute") }
    })
  })

  it("is told to whoever waits when it is deleted or stopped by hand meanwhile", async () => {
    const [gone, stopped] = [await sleeper(berth, machines), await sleeper(berth, machines)]
    await gone.fallAsleep()
    await stopped.fallAsleep()
    machines.conduct = { delay: 1_500, listener: healthy }
    const waiting = Promise.all([gone.ask(), stopped.ask()])
    await pause(300)
    await gone.owner.delete(`/v1/servers/${gone.server.id}`)
    await stopped.owner.request("POST", `/v1/servers/${stopped.server.id}/stop`)
    const [ofGone, ofStopped] = await waiting
    expect(ofGone.status).toBe(404)
    // Whichever came first: it was stopped before it was healthy, or after it had answered.
    expect([200, 502, 503]).toContain(ofStopped.status)
    await expect.poll(stopped.read).toMatchObject({ status: "stopped", asleep: false })
    await expect.poll(() => machines.statusOf(stopped.machine)).toBe("exited")
  })
})

describe("a server that sleeps while the platform restarts", () => {
  const scope = Effect.runSync(Scope.make())
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

  it("tells so whoever waits, stays asleep, and is woken by the next who asks", async () => {
    const machines = new StartableMachines()
    const databaseUrl = await Effect.runPromise(Scope.extend(freshDatabaseUrl, scope))
    const start = () =>
      new Berth().start({ databaseUrl, machines: machines.layer, variables: { SHUTDOWN_SECONDS: "4", ...secretKey } })
    const first = await start()
    const one = await sleeper(first, machines, { healthTimeoutSeconds: 60 })
    await one.fallAsleep()
    machines.conduct = { delay: 60_000, listener: healthy }
    const waiting = one.ask()
    await pause(300)
    await first.stop()
    expect(await waiting).toMatchObject({ status: 503, body: { error: { message: "The gateway is restarting" } } })

    machines.clear()
    machines.conduct = { delay: 0, listener: healthy }
    const [{ asleep }] = await runSql(databaseUrl, "SELECT asleep_at IS NOT NULL AS asleep FROM servers") as [
      { asleep: boolean }
    ]
    expect(asleep).toBe(true)
    const next = await start()
    const audience = `${next.url}/s/${one.server.slug}`
    const scopes = { scope: allMcpScopes, clientId: "c", serverId: one.server.id }
    const token = await mint(next, { accountId: one.owner.id, audience, ...scopes })
    expect((await next.request("GET", `/s/${one.server.slug}/`, { token })).status).toBe(200)
    expect(machines.statusOf(one.machine)).toBe("running")
    await next.stop()
    machines.clear()
  }, 30_000)
})
