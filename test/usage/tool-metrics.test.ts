import { clientLayer } from "#sql/Client.ts"
import { MachineStatesLive } from "#src/machines/Machines.ts"
import { ToolCallsRepo } from "#src/usage/ToolCallsRepo.ts"
import { Effect, Layer, Redacted } from "effect"
import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { secondGateway } from "../deployments/support/second-gateway.ts"
import { type Sleeper, sleeper } from "../deployments/support/sleeper.ts"
import { dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { send } from "../support/http.ts"
import { secretKey } from "../support/mint.ts"
import { runSql } from "../support/sql.ts"
import { StartableMachines } from "../support/startable-machines.ts"
import { call, initialize, json, mcp } from "./support/tool-server.ts"

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

  it("tell a 99th percentile that is not under the average, also of one call and of a few that took long", async () => {
    const one = await sleeper(berth, machines)
    await post(one, call("once"))
    await post(one, call("skewed"))
    await counted(one, 2)
    // A bucket is told by its middle, here 97.5 ms.
    await sql(one, "UPDATE tool_calls SET latency = 115, micros = 99000 WHERE server_id = $1 AND tool = 'once'")
    await sql(
      one,
      `WITH quick AS (UPDATE tool_calls SET latency = 1, calls = 199, micros = 199000
         WHERE server_id = $1 AND tool = 'skewed' RETURNING *)
       INSERT INTO tool_calls (server_id, is_hour, began_at, tool, latency, calls, errors, micros)
         SELECT server_id, is_hour, began_at, tool, 230, 1, 0, 9801000 FROM quick`
    )
    const { items } = await toolsOf(one)
    expect(items).toMatchObject([
      { tool: "skewed", calls: 200, avgLatencyMs: 50, p99LatencyMs: 50 },
      { tool: "once", calls: 1, avgLatencyMs: 99, p99LatencyMs: 99 }
    ])
  })

  it("tell who called, by session, by token, or as the call itself says", async () => {
    const one = await sleeper(berth, machines)
    const [claude, cursor] = [await connect(one, "claude"), await connect(one, "cursor")]
    expect(claude["mcp-session-id"]).not.toBe(cursor["mcp-session-id"])
    // Clients of the SDK go on with the id of the last answer.
    const { headers } = await post(one, call("a"), claude)
    expect(headers.get("mcp-session-id")).toBe(claude["mcp-session-id"])
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
