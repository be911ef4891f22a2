import { setTimeout } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account, type Project } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { itLong } from "../support/needs.ts"
import { DatabaseProxy } from "../support/proxy.ts"
import { holdLock } from "../support/sql.ts"

const proxy = new DatabaseProxy()
const berth = useBerth({ through: proxy.through })
let owner: Account
let project: Project
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  project = await owner.project()
})
afterAll(proxy.cut)

const health = () => berth.request("GET", "/v1/health")

const until = async (status: number, ask: () => Promise<{ readonly status: number }>) => {
  for (let i = 0; i < 100; i++) {
    if ((await ask()).status === status) return
    await setTimeout(50)
  }
  expect((await ask()).status).toBe(status)
}

describe("while the database is away", () => {
  beforeAll(proxy.cut)
  afterAll(proxy.mend)

  it("health is 503 and says so", async () => {
    const answer = await health()
    expect([answer.status, answer.body]).toMatchObject([503, { status: "degraded", services: { database: "down" } }])
    expect(answer.headers.get("x-ratelimit-limit")).toBe("100")
  })

  it("every call is 503 with the envelope and all headers, through each door, in time", async () => {
    const calls: ReadonlyArray<readonly [string, string, unknown]> = [
      ["GET", "/v1/projects", undefined],
      ["POST", "/v1/projects", { name: "x" }],
      ["GET", `/v1/projects/${project.id}`, undefined],
      ["DELETE", `/v1/projects/${project.id}`, undefined],
      ["POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" }],
      ["GET", "/sse", undefined]
    ]
    await Promise.all(calls.map(async ([method, path, body]) => {
      const started = performance.now()
      const answer = await owner.request(method, path, { body, headers: { "idempotency-key": "x" } })
      expect([answer.status, answer.body], `${method} ${path}`).toEqual([503, failure("SERVICE_UNAVAILABLE")])
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0)
      for (const name of ["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
        expect(answer.headers.has(name), name).toBe(true)
      }
      expect(performance.now() - started).toBeLessThan(8_000)
    }))
  })

  it("agents are told that indexes and catalogs are away, and read what is not in the database", async () => {
    await Promise.all(
      ([
        ["/.well-known/agent-skills/index.json", 503],
        ["/l/copper-ladle/.well-known/skills/index.json", 503],
        ["/.well-known/ai-catalog.json", 503],
        ["/s/copper-ladle/mcp/server-card", 503],
        ["/.well-known/agent-skills/keep-a-catalog/SKILL.md", 200],
        ["/mcp/server-card", 200]
      ] as const).map(async ([path, status]) => {
        const answer = await berth.request("GET", path)
        expect(answer.status, path).toBe(status)
        expect(answer.headers.get("access-control-allow-origin"), path).toBe("*")
      })
    )
  })

  it("logging in and signing up are 503, not wrong credentials", async () => {
    await Promise.all(["/v1/auth/login", "/v1/auth/signup"].map(async (path) => {
      const answer = await berth.request("POST", path, { body: { email: owner.email, password: owner.password } })
      expect(answer.status, path).toBe(503)
    }))
  })

  it("what needs no database is answered", async () => {
    for (const path of ["/", "/openapi.json", "/docs"]) {
      expect((await berth.request("GET", path)).status, path).toBe(200)
    }
    expect((await berth.request("GET", "/v1/nothing")).status).toBe(404)
    expect((await berth.request("GET", "/v1/projects")).status).toBe(401)
  })
})

describe("when the database is back", () => {
  it("everything works again by itself, and nothing was lost", async () => {
    await until(200, health)
    await until(200, () => owner.get("/v1/projects"))
    expect((await owner.get("/v1/projects")).body).toMatchObject({ data: [project], meta: { total: 1 } })
    expect((await owner.post("/v1/projects", { name: "After" })).status).toBe(201)
  })

  it("an outage in the middle of an operation is the same refusal through both doors", async () => {
    const client = await connectMcp(berth.url, { token: owner.token })
    const body = { name: "Caught" }
    const lock = "SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE"
    const release = await holdLock(berth.databaseUrl, lock, [owner.id])
    const http = owner.post(`/v1/projects/${project.id}/servers`, body)
    const mcp = callTool(client, "create_server", { projectId: project.id, ...body })
    await setTimeout(300)
    await proxy.cut()
    const [answer, result] = await Promise.all([http, mcp])
    expect([answer.status, answer.body]).toEqual([503, failure("SERVICE_UNAVAILABLE")])
    expect([result.isError, textOf(result)]).toEqual([true, answer.body])
    await release()
    await proxy.mend()
    await until(200, () => owner.get("/v1/projects"))
    expect((await owner.get("/v1/servers")).body).toMatchObject({ meta: { total: 0 } })
    await client.close()
  })

  it("an outage in the middle of many requests answers each of them", async () => {
    const requests = Array.from({ length: 40 }, async (_, n) => {
      await setTimeout(n * 5)
      return owner.post("/v1/projects", { name: `Storm ${n}` })
    })
    await setTimeout(80)
    await proxy.cut()
    await setTimeout(60)
    await proxy.mend()
    const statuses = (await Promise.all(requests)).map(({ status }) => status)
    expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([])
    expect(statuses).toContain(201)
    await until(201, () => owner.post("/v1/projects", { name: "x" }))
  })
})

describe("while the database says nothing at all", () => {
  beforeAll(() => proxy.hold())
  afterAll(() => proxy.letGo())

  it("health is answered in two seconds all the same, whoever asks and however many", async () => {
    const started = performance.now()
    const asked = [undefined, owner.token, undefined, owner.token].map((token) =>
      berth.request("GET", "/v1/health", { token })
    )
    for (const { body, status } of await Promise.all(asked)) {
      expect([status, body]).toMatchObject([503, { services: { database: "down" } }])
    }
    expect(performance.now() - started).toBeLessThan(2_500)
  })

  itLong(
    "every call comes to its end as 503, and works again afterwards",
    async () => {
      const asked = Array.from({ length: 20 }, () => owner.get("/v1/projects"))
      for (const { body, status } of await Promise.all(asked)) {
        expect([status, body]).toEqual([503, failure("SERVICE_UNAVAILABLE")])
      }
      proxy.letGo()
      await until(200, () => owner.get("/v1/projects"))
    },
    60_000
  )
})
