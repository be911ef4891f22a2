import { clientLayer } from "#sql/Client.ts"
import { MachineStatesLive } from "#src/machines/Machines.ts"
import { ToolCallsRepo } from "#src/usage/ToolCallsRepo.ts"
import { Effect, Layer, Redacted } from "effect"
import { type RequestListener } from "node:http"
import { text } from "node:stream/consumers"
import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { secondGateway } from "../deployments/support/second-gateway.ts"
import { type Sleeper, sleeper } from "../deployments/support/sleeper.ts"
import { dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { send } from "../support/http.ts"
import { secretKey } from "../support/mint.ts"
import { runSql } from "../support/sql.ts"
import { StartableMachines } from "../support/startable-machines.ts"

interface Tool {
  readonly tool: string
  readonly calls: number
  readonly errors: number
  readonly avgLatencyMs: number
  readonly p99LatencyMs: number
  readonly clients: ReadonlyArray<{ readonly name: string; readonly calls: number }>
  readonly otherClients: number
}
interface Tools {
  readonly items: ReadonlyArray<Tool>
  readonly other: Omit<Tool, "tool"> | null
}

const json = { "content-type": "application/json" }

/** A tool's name says how it answers: `fails` and `streamed-fails` by isError, `unknown…` by an error of JSON-RPC, `http` by 500. */
const answerTo = ({ id, params: { name } }: { readonly id: unknown; readonly params: { readonly name: string } }) => ({
  jsonrpc: "2.0",
  id,
  ...(name.startsWith("unknown")
    ? { error: { code: -32602, message: "no such tool" } }
    : {
      result: {
        // What a tool says is not what the server says of it.
        content: [{ type: "text", text: `{"isError":true,"error":{}}` }],
        structuredContent: { isError: true },
        ...(name.endsWith("fails") ? { isError: true } : {})
      }
    })
})

const mcp: RequestListener = (req, res) => {
  void text(req).then((body) => {
    // What the platform asks by itself.
    if (req.method !== "POST") return res.writeHead(405).end()
    const message: unknown = JSON.parse(body)
    const [first] = [message].flat() as [{ id: unknown; method: string; params: { name: string } }]
    if (first.method === "initialize") {
      return res.writeHead(200, { ...json, ...(req.url === "/stateless" ? {} : { "mcp-session-id": "s" }) }).end("{}")
    }
    const { name } = first.params
    const answers = Array.isArray(message) ? message.map(answerTo) : answerTo(first)
    if (name === "http") return res.writeHead(500, json).end("{}")
    if (name.startsWith("streamed")) {
      res.writeHead(200, { "content-type": "text/event-stream" }).write("event: message\ndata: {}\n\nevent: mess")
      return void setTimeout(() => res.end(`age\r\ndata: ${JSON.stringify(answers)}\r\n\r\n`), 20)
    }
    setTimeout(() => res.writeHead(200, json).end(JSON.stringify(answers)), name === "slow" ? 300 : 0)
  })
}

const call = (name: string, meta?: object, id: unknown = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: {}, ...(meta === undefined ? {} : { _meta: meta }) }
})
const initialize = (name: string) => ({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version: "1" } }
})

describe("a server's metrics by tool", () => {
  const machines = new StartableMachines()
  const berth = useBerth({ machines: machines.layer, variables: secretKey })
  beforeEach(() => void (machines.conduct = { delay: 0, listener: mcp }))
  afterAll(machines.clear)

  const toolsOf = async ({ owner, server }: Sleeper, period = "1h") => {
    berth.hurry(3_000)
    return dataOf(await owner.get<{ data: Tools }>(`/v1/servers/${server.id}/metrics/tools?period=${period}`))
  }
  const allOf = ({ items, other }: Tools) => items.reduce((sum, { calls }) => sum + calls, other?.calls ?? 0)
  const counted = (one: Sleeper, calls: number) =>
    expect.poll(async () => allOf(await toolsOf(one)), { timeout: 10_000 }).toBe(calls)
  const post = (one: Sleeper, body: unknown, headers: Readonly<Record<string, string>> = {}, path = "/mcp") =>
    one.ask(path, { body, headers: { ...json, ...headers } }, "POST")
  /** A session of a client of that name. */
  const connect = async (one: Sleeper, name: string) => {
    const { headers } = await post(one, initialize(name))
    return { "mcp-session-id": headers.get("mcp-session-id") ?? "" }
  }
  const repo = <A>(use: (repo: ToolCallsRepo) => Effect.Effect<A>) =>
    Effect.flatMap(ToolCallsRepo, use).pipe(
      Effect.provide(Layer.provide(ToolCallsRepo.Default, clientLayer(Redacted.make(berth.databaseUrl), 2))),
      Effect.runPromise
    )
  const sql = (one: Sleeper, statement: string) => runSql(berth.databaseUrl, statement, [one.server.id])

  it("tell the calls of each tool, its errors of every kind, and how long it took", async () => {
    const one = await sleeper(berth, machines)
    const { owner: { get }, server } = one
    expect(await toolsOf(one)).toEqual({ items: [], other: null })
    for (const name of ["works", "works", "works", "fails", "streamed-fails", "unknown", "http", "slow"]) {
      await post(one, call(name))
    }
    await post(one, [call("works", {}, "a"), call("fails", {}, "b")])
    await counted(one, 10)
    const { items, other } = await toolsOf(one)
    expect(other).toBeNull()
    expect(Object.fromEntries(items.map(({ calls, errors, tool }) => [tool, [calls, errors]]))).toEqual({
      works: [4, 0],
      fails: [2, 2],
      "streamed-fails": [1, 1],
      unknown: [1, 1],
      http: [1, 1],
      slow: [1, 0]
    })
    const slow = items.find(({ tool }) => tool === "slow")
    expect(slow?.avgLatencyMs).toBeGreaterThan(290)
    expect(slow?.p99LatencyMs).toBeGreaterThan(290)
    const key = await one.owner.key(server.projectId, ["servers:read", "logs:read"])
    const path = `/v1/servers/${server.id}/metrics`
    for (const rest of ["/tools", "/series"]) {
      expect((await berth.request("GET", path + rest, { token: key.key })).status).toBe(403)
      expect((await get(`${path}${rest}?period=2h`)).status).toBe(400)
    }
  })

  it("tell who called, by session, by token, or as the call itself says", async () => {
    const one = await sleeper(berth, machines)
    const [claude, cursor] = [await connect(one, "claude"), await connect(one, "cursor")]
    expect(claude["mcp-session-id"]).not.toBe(cursor["mcp-session-id"])
    await post(one, call("a"), claude)
    await post(one, call("a"), claude)
    await post(one, call("a"), cursor)
    await post(one, call("a", { "io.modelcontextprotocol/clientInfo": { name: "sdk", version: "2" } }))
    await post(one, initialize("stateless"), {}, "/stateless")
    await post(one, call("a"), {}, "/stateless")
    await counted(one, 5)
    const { items: [tool] } = await toolsOf(one)
    expect(tool?.clients[0]).toEqual({ name: "claude", calls: 2 })
    expect(tool?.clients.map(({ name }) => name).sort()).toEqual(["claude", "cursor", "sdk", "stateless"])
    expect(tool?.otherClients).toBe(0)
  })

  it("count each call once, whichever gateway passes it on, and know its client there", async () => {
    const one = await sleeper(berth, machines)
    const { stop, url } = await secondGateway(berth, Layer.provide(MachineStatesLive, machines.layer), {
      TRUST_PROXY: "1",
      ...secretKey
    })
    const session = await connect(one, "claude")
    const there = () =>
      send(url, "POST", `/s/${one.server.slug}/mcp`, {
        token: one.token,
        body: call("a"),
        headers: { ...json, ...session }
      })
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => i % 2 === 0 ? post(one, call("a"), session) : there())
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    await stop()
    await counted(one, 100)
    expect((await toolsOf(one)).items).toMatchObject([{ clients: [{ name: "claude", calls: 100 }], otherClients: 0 }])
  })

  it("have room for hostile names, and not for ever more of them", async () => {
    const one = await sleeper(berth, machines)
    const odd = ["a\u0000b", "\ud800", "__proto__", "", "x".repeat(10_000)]
    for (const name of odd) await post(one, call(name, { "io.modelcontextprotocol/clientInfo": { name } }))
    // Invented names fail, and leave room for those that exist.
    for (let i = 0; i < 80; i++) {
      await post(one, call(`unknown-${i}`, { "io.modelcontextprotocol/clientInfo": { name: `client-${i}` } }))
    }
    await post(one, call("real"))
    await counted(one, 86)
    const { items, other } = await toolsOf(one)
    expect(items.find(({ tool }) => tool === "real")?.calls).toBe(1)
    expect(items.length).toBeLessThanOrEqual(56)
    expect(Math.max(...items.map(({ tool }) => tool.length))).toBe(128)
    expect(items.map(({ tool }) => tool)).toEqual(expect.arrayContaining(["a\ufffdb", "\ufffd", "__proto__"]))
    expect(other?.calls).toBeGreaterThanOrEqual(30)
    const clients = new Set(items.flatMap(({ clients }) => clients.map(({ name }) => name)))
    expect(clients.size).toBeLessThanOrEqual(20)
  })

  it("keep to their number of names, however many gateways write at once", async () => {
    const one = await sleeper(berth, machines)
    const minute = Math.floor(Date.now() / 60_000) * 60_000
    const delta = (tool: string, errors: number) => ({
      serverId: one.server.id,
      minute,
      tool,
      client: `c-${tool}`,
      latency: null,
      calls: 1,
      errors,
      micros: 0
    })
    await repo((repo) =>
      Effect.all(
        [0, 1, 2, 3].map((gateway) => repo.add(Array.from({ length: 80 }, (_, i) => delta(`${gateway}-${i}`, i % 2)))),
        { concurrency: "unbounded", discard: true }
      )
    )
    expect(await sql(one, "SELECT cardinality(tools) t, cardinality(clients) c FROM tool_names WHERE server_id = $1"))
      .toEqual([{ t: 100, c: 20 }])
    const { items, other } = await toolsOf(one)
    expect([items.length, other?.calls]).toEqual([100, 220])
  })

  /** Waits until so many requests are counted. */
  const passed = (one: Sleeper, requests: number) =>
    expect.poll(async () => {
      berth.hurry(3_000)
      const path = `/v1/servers/${one.server.id}/metrics`
      return dataOf(await one.owner.get<{ data: { requestCount: number } }>(path)).requestCount
    }).toBe(requests)

  it("are none of a server in byoa mode, of a body that is too long, or of a compressed one", async () => {
    const one = await sleeper(berth, machines)
    await post(one, { ...call("long"), filler: "x".repeat(70_000) })
    await post(one, call("packed"), { "content-encoding": "gzip" })
    await post(one, call("a"))
    await counted(one, 1)
    const byoa = JSON.stringify({
      issuer: "https://i.test",
      jwksUri: "https://i.test/jwks",
      authorizationEndpoint: "https://i.test/authorize",
      tokenEndpoint: "https://i.test/token"
    })
    await sql(one, `UPDATE servers SET auth_mode = 'byoa', byoa_config = '${byoa}' WHERE id = $1`)
    await passed(one, 3)
    await post(one, call("hidden"))
    await passed(one, 4)
    await counted(one, 1)
  })

  it("become hours, and are dropped after a month", async () => {
    const one = await sleeper(berth, machines)
    await post(one, call("fails"), await connect(one, "claude"))
    await counted(one, 1)
    const before = await toolsOf(one)
    const tables = ["tool_calls", "tool_clients"]
    const age = async (by: string) => {
      for (const table of tables) {
        await sql(one, `UPDATE ${table} SET began_at = began_at - interval '${by}' WHERE server_id = $1`)
      }
    }
    await age("2 days")
    await repo((repo) => Effect.all([repo.fold, repo.fold], { concurrency: 2, discard: true }))
    expect(await sql(one, "SELECT is_hour FROM tool_calls WHERE server_id = $1")).toEqual([{ is_hour: true }])
    expect([await toolsOf(one, "24h"), await toolsOf(one, "7d")]).toEqual([{ items: [], other: null }, before])
    await age("40 days")
    await repo((repo) => repo.fold)
    for (const table of tables) expect(await sql(one, `SELECT 1 FROM ${table} WHERE server_id = $1`)).toEqual([])
  })
})

describe("a server's metrics over time", () => {
  const machines = new StartableMachines()
  const berth = useBerth({ machines: machines.layer })
  afterAll(machines.clear)

  interface Series {
    readonly stepSeconds: number
    readonly items: ReadonlyArray<
      { readonly startsAt: string; readonly requestCount: number; readonly errorCount: number }
    >
  }

  it("are steps without a gap whose sum is the period's", async () => {
    machines.conduct = { delay: 0, listener: (_, res) => void res.writeHead(500).end() }
    const one = await sleeper(berth, machines)
    const read = async (period: string) => {
      berth.hurry(3_000)
      return dataOf(
        await one.owner.get<{ data: Series }>(`/v1/servers/${one.server.id}/metrics/series?period=${period}`)
      )
    }
    const sum = ({ items }: Series) => items.reduce((all, { requestCount }) => all + requestCount, 0)
    expect(sum(await read("24h"))).toBe(0)
    for (let i = 0; i < 3; i++) await one.ask("/")
    await expect.poll(async () => sum(await read("1h"))).toBe(3)
    const steps = { "1h": [60, 61], "24h": [3600, 25], "7d": [6 * 3600, 29], "30d": [24 * 3600, 31] } as const
    for (const [period, [seconds, count]] of Object.entries(steps)) {
      const series = await read(period)
      expect([series.stepSeconds, series.items.length, sum(series)]).toEqual([seconds, count, 3])
      const at = series.items.map(({ startsAt }) => Date.parse(startsAt) / 1000)
      expect(at.every((one, i) => one % seconds === 0 && (i === 0 || one - at[i - 1]! === seconds))).toBe(true)
    }
    await runSql(
      berth.databaseUrl,
      "UPDATE server_requests SET began_at = began_at - interval '30 minutes' WHERE server_id = $1",
      [one.server.id]
    )
    const { items } = await read("1h")
    const [busy] = items.filter(({ requestCount }) => requestCount > 0)
    expect(busy).toMatchObject({ requestCount: 3, errorCount: 3, p99LatencyMs: expect.any(Number) })
    expect(items.filter(({ requestCount }) => requestCount === 0)[0]).toMatchObject({
      errorCount: 0,
      avgLatencyMs: 0,
      p99LatencyMs: 0
    })
  })
})
