import { beforeAll, describe, expect } from "vitest"
import { type Account, type Listed, type Project, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { row } from "./row.ts"
import { failure, invalid, server, timestamp } from "./shapes.ts"

const berth = useBerth()
let owner: Account
let home: Project
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  home = await owner.project("Home")
})

const create = (body: unknown) => owner.post<{ data: Server }>(`/v1/projects/${home.id}/servers`, body)

/** Creates with the field at each of the values: those allowed come back as they were, the rest are refused. */
const checkField = async (field: string, allowed: ReadonlyArray<unknown>, refused: ReadonlyArray<unknown>) => {
  for (const value of allowed) {
    const answer = await create({ name: "x", [field]: value })
    expect([answer.status, answer.body], JSON.stringify(value)).toEqual([201, { data: server({ [field]: value }) }])
  }
  for (const value of refused) {
    const answer = await create({ name: "x", [field]: value })
    expect([answer.status, answer.body], JSON.stringify(value)).toEqual([422, invalid(field)])
  }
}

describe("servers", () => {
  row("POST /v1/projects/:projectId/servers → 201 server", async () => {
    const answer = await create({ name: "Blue Door Menu" })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      data: server({
        projectId: home.id,
        name: "Blue Door Menu",
        slug: "blue-door-menu",
        subdomain: "blue-door-menu.mcp.localhost",
        publicUrl: `${berth.url}/s/blue-door-menu`
      })
    })
  })

  row("GET /v1/servers/:serverId/metrics → currently 501; intended 200 { data: metrics }", async () => {
    const path = `/v1/servers/${(await owner.server(home.id)).id}/metrics`
    const answer = await owner.get(path)
    const none = { requestCount: 0, errorCount: 0, avgLatencyMs: 0, p99LatencyMs: 0 }
    expect([answer.status, answer.body]).toEqual([200, { data: none }])
    for (const period of ["1h", "24h", "7d", "30d"]) {
      expect((await owner.get(`${path}?period=${period}`)).status).toBe(200)
    }
    expect((await owner.get(`${path}?period=2h`)).status).toBe(400)
    expect((await berth.request("GET", path)).status).toBe(401)
    expect((await (await berth.signUp()).get(path)).body).toEqual(failure("NOT_FOUND"))
    const elsewhere = await owner.holder((await owner.project("Elsewhere")).id, ["metrics:read"])
    expect((await elsewhere.get(path)).status).toBe(404)
  })

  row("GET /v1/servers → 200 list of servers of all projects of the user (session)", async () => {
    const other = await berth.signUp()
    const [a, b] = [await other.project("A"), await other.project("B")]
    const first = await other.server(a.id)
    const second = await other.server(b.id)
    const answer = await other.get("/v1/servers")
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ data: [second, first], meta: { cursor: null, hasMore: false, total: 2 } })
  })

  row("GET /v1/servers → 200 list of servers of the key's project (API key)", async () => {
    const other = await berth.signUp()
    const [a, b] = [await other.project("A"), await other.project("B")]
    const inside = await other.server(a.id)
    await other.server(b.id)
    const key = await other.holder(a.id)
    expect((await key.get("/v1/servers")).body).toEqual({
      data: [inside],
      meta: { cursor: null, hasMore: false, total: 1 }
    })
    expect((await key.get("/v1/projects")).body).toEqual({
      data: [a],
      meta: { cursor: null, hasMore: false, total: 1 }
    })
  })

  row("GET /v1/projects/:projectId/servers → 200 list of servers", async () => {
    const [mine, other] = [await owner.project("Mine"), await owner.project("Other")]
    await owner.server(other.id)
    const made: Array<Server> = []
    for (let i = 0; i < 3; i++) made.unshift(await owner.server(mine.id))
    const path = `/v1/projects/${mine.id}/servers`
    const page = await owner.get<Listed<Server>>(`${path}?limit=2`)
    expect(page.status).toBe(200)
    expect(page.body).toEqual({
      data: made.slice(0, 2),
      meta: { cursor: expect.any(String), hasMore: true, total: 3 }
    })
    expect((await owner.get(`${path}?limit=2&cursor=${page.body.meta.cursor}`)).body).toEqual({
      data: made.slice(2),
      meta: { cursor: null, hasMore: false, total: 3 }
    })
  })

  row("GET /v1/servers/:serverId → 200 server", async () => {
    const made = await owner.server(home.id)
    const answer = await owner.get(`/v1/servers/${made.id}`)
    expect([answer.status, answer.body]).toEqual([200, { data: made }])
  })

  row("PATCH /v1/servers/:serverId → 200 server", async () => {
    const made = await owner.server(home.id)
    const answer = await owner.patch(`/v1/servers/${made.id}`, { name: "Renamed" })
    expect([answer.status, answer.body]).toEqual([200, {
      data: { ...made, name: "Renamed", updatedAt: timestamp }
    }])
    expect((await owner.get(`/v1/servers/${made.id}`)).body).toEqual(answer.body)
  })

  row("DELETE /v1/servers/:serverId → 204; stops and permanently deletes the server with its deployments", async () => {
    const made = await owner.server(home.id)
    const answer = await owner.delete(`/v1/servers/${made.id}`)
    expect([answer.status, answer.text]).toEqual([204, ""])
    for (const path of ["", "/env", "/logs"]) {
      const gone = await owner.get(`/v1/servers/${made.id}${path}`)
      expect([gone.status, gone.body]).toEqual([404, failure("NOT_FOUND")])
    }
    expect((await owner.delete(`/v1/servers/${made.id}`)).status).toBe(404)
    expect((await owner.get<Listed<Server>>("/v1/servers?limit=100")).body.data.map(({ id }) => id))
      .not.toContain(made.id)
  })

  row("a server has the contract's fields, with subdomain <slug>.{mcp_domain}", async () => {
    const made = await owner.server(home.id, { slug: "two-words" })
    const contract = ["id", "name", "status", "subdomain", "region", "authMode", "cpu", "memoryMb", "autoStopSeconds"]
    const more = ["rollbackOnHealthCheckFailure", "deploymentRetentionCount", "createdAt", "updatedAt"]
    for (const field of [...contract, ...more]) expect(made).toHaveProperty(field)
    expect(made).toMatchObject({ slug: "two-words", subdomain: "two-words.mcp.localhost" })
  })
})

describe("create server body", () => {
  row("name is required, max 255", async () => {
    expect((await create({})).body).toEqual(invalid("name"))
    await checkField("name", ["x", "x".repeat(255), "日本 🍣", "💡".repeat(255)], [
      "",
      "   ",
      "x".repeat(256),
      "💡".repeat(256),
      "a\nb",
      null,
      7,
      ["x"],
      { x: 1 }
    ])
  })

  row("slug is optional, lowercase alphanumerics and hyphens, auto-generated if omitted", async () => {
    const longest = "a".repeat(63)
    await checkField("slug", ["a", "0", "a-b-c", "a--b", longest], [
      "",
      "Upper",
      "-a",
      "a-",
      "a_b",
      "a b",
      "a.b",
      "é",
      "a".repeat(64),
      "xn--80ak6aa92e",
      "www",
      "admin",
      null,
      7
    ])
    const [first, second] = [await create({ name: "Same name" }), await create({ name: "Same name" })]
    expect(first.body.data.slug).toBe("same-name")
    expect(second.body.data.slug).toMatch(/^same-name-[a-z0-9]{4}$/)
    expect((await create({ name: "Admin" })).body.data.slug).toMatch(/^admin-[a-z0-9]{4}$/)
    expect((await create({ name: "寿司" })).body.data.slug).toBe("shousi")
    const taken = await create({ name: "x", slug: longest })
    expect([taken.status, taken.body]).toEqual([409, failure("CONFLICT")])
  })

  row(
    "region is ord, iad, lax, ams or syd, default ord",
    () => checkField("region", ["ord", "iad", "lax", "ams", "syd"], ["fra", "ORD", "", null, 1])
  )

  row(
    "cpu is shared-1x, shared-2x or performance-1x, default shared-1x",
    () => checkField("cpu", ["shared-1x", "shared-2x", "performance-1x"], ["shared-4x", "", null, 1])
  )

  row(
    "memoryMb is 256, 512, 1024 or 2048, default 256",
    () => checkField("memoryMb", [256, 512, 1024, 2048], [0, 128, 255, 257, 4096, -256, 256.5, "256", null])
  )

  row(
    "autoStopSeconds is 60 to 86400, default 300",
    () => checkField("autoStopSeconds", [60, 61, 86_400, null], [59, 86_401, 0, -60, 60.5, "60", true])
  )
})

describe("update server body", () => {
  row("all fields are optional, at least one is required", async () => {
    const made = await owner.server(home.id)
    const answer = await owner.patch(`/v1/servers/${made.id}`, {})
    expect([answer.status, answer.body]).toEqual([422, invalid("")])
  })

  row(
    "name, cpu, memoryMb, autoStopSeconds, rollbackOnHealthCheckFailure, deploymentRetentionCount can be changed",
    async () => {
      const made = await owner.server(home.id)
      const changes = {
        name: "x".repeat(255),
        cpu: "performance-1x",
        memoryMb: 2048,
        autoStopSeconds: 86_400,
        rollbackOnHealthCheckFailure: false,
        deploymentRetentionCount: 1
      }
      for (const [field, value] of Object.entries(changes)) {
        const answer = await owner.patch(`/v1/servers/${made.id}`, { [field]: value })
        expect([answer.status, answer.body], field).toMatchObject([200, { data: { [field]: value } }])
      }
      expect((await owner.get(`/v1/servers/${made.id}`)).body).toEqual({
        data: { ...made, ...changes, updatedAt: timestamp }
      })
      const refused = { name: "x".repeat(256), cpu: "x", memoryMb: 300, autoStopSeconds: 59 }
      for (const [field, value] of Object.entries(refused)) {
        const answer = await owner.patch(`/v1/servers/${made.id}`, { [field]: value })
        expect([answer.status, answer.body], field).toEqual([422, invalid(field)])
      }
    }
  )

  row("deploymentRetentionCount is 1 to 100", async () => {
    const made = await owner.server(home.id)
    for (const deploymentRetentionCount of [1, 100]) {
      expect((await owner.patch(`/v1/servers/${made.id}`, { deploymentRetentionCount })).status).toBe(200)
    }
    for (const deploymentRetentionCount of [0, 101, -1, 1.5, "1", null]) {
      const answer = await owner.patch(`/v1/servers/${made.id}`, { deploymentRetentionCount })
      expect([answer.status, answer.body]).toEqual([422, invalid("deploymentRetentionCount")])
    }
  })

  row("deploymentsKept is the plan's number, and deploymentRetentionCount what was set", async () => {
    const free = await berth.signUp("free")
    const made = await free.server((await free.project()).id)
    const answer = await free.patch(`/v1/servers/${made.id}`, { deploymentRetentionCount: 100 })
    expect(answer.body).toMatchObject({ data: { deploymentRetentionCount: 100, deploymentsKept: 3 } })
  })

  row("guestRequestsPerMinute is 1 to 100000 or null, guestMonthPercent 1 to 100", async () => {
    const most = { guestRequestsPerMinute: 100_000, guestMonthPercent: 100 }
    const made = await owner.post(`/v1/projects/${home.id}/servers`, { name: "Open", ...most })
    expect(made.body).toMatchObject({ data: most })
    const { id } = (made.body as { data: { id: string } }).data
    for (const change of [{ guestRequestsPerMinute: null }, { guestRequestsPerMinute: 1 }, { guestMonthPercent: 1 }]) {
      expect((await owner.patch(`/v1/servers/${id}`, change)).body).toMatchObject({ data: change })
    }
    const refused = { guestRequestsPerMinute: [0, 100_001, 1.5, "any"], guestMonthPercent: [0, 101, null, "10"] }
    for (const [field, values] of Object.entries(refused)) {
      for (const value of values) {
        const answer = await owner.patch(`/v1/servers/${id}`, { [field]: value })
        expect([answer.status, answer.body]).toEqual([422, invalid(field)])
      }
    }
  })

  row("rollbackOnHealthCheckFailure is a boolean", async () => {
    const made = await owner.server(home.id)
    for (const rollbackOnHealthCheckFailure of ["true", 1, 0, null, {}]) {
      const answer = await owner.patch(`/v1/servers/${made.id}`, { rollbackOnHealthCheckFailure })
      expect([answer.status, answer.body]).toEqual([422, invalid("rollbackOnHealthCheckFailure")])
    }
  })

  row("slug, region and authMode are not accepted", async () => {
    const made = await owner.server(home.id)
    for (const [field, value] of [["slug", "other"], ["region", "iad"], ["authMode", "byoa"]] as const) {
      const answer = await owner.patch(`/v1/servers/${made.id}`, { name: "x", [field]: value })
      expect([answer.status, answer.body], field).toEqual([422, invalid(field)])
    }
    expect((await owner.get(`/v1/servers/${made.id}`)).body).toEqual({ data: made })
  })

  row("authMode byoa has issuer, JWKS URI, authorization endpoint and token endpoint in byoaConfig", async () => {
    const made = await owner.server(home.id)
    const byoaConfig = {
      issuer: "https://id.example.com",
      jwksUri: "https://id.example.com/jwks",
      authorizationEndpoint: "https://id.example.com/authorize",
      tokenEndpoint: "https://id.example.com/token"
    }
    const path = `/v1/servers/${made.id}/auth`
    const answer = await owner.put(path, { authMode: "byoa", byoaConfig })
    expect([answer.status, answer.body]).toEqual([200, {
      data: { ...made, authMode: "byoa", byoaConfig, updatedAt: timestamp }
    }])
    const back = await owner.put(path, { authMode: "service_managed" })
    expect([back.status, back.body]).toEqual([200, { data: { ...made, updatedAt: timestamp } }])
    for (const field of Object.keys(byoaConfig)) {
      for (const value of [undefined, "http://id.example.com", "ftp://x", "id.example.com", "https://u:p@x/", "", 7]) {
        const refused = await owner.put(path, { authMode: "byoa", byoaConfig: { ...byoaConfig, [field]: value } })
        expect([refused.status, refused.body], `${field} ${value}`).toEqual([422, invalid(`byoaConfig.${field}`)])
      }
    }
    expect((await owner.put(path, { authMode: "byoa" })).body).toEqual(invalid("byoaConfig"))
    expect((await owner.put(path, { authMode: "service_managed", byoaConfig })).body).toEqual(invalid("byoaConfig"))
    expect((await owner.put(path, { authMode: "none" })).body).toEqual(invalid("authMode"))
  })
})
