import { type RouteEntry } from "#http/traits/route-table.ts"
import { requestsPerDay } from "#src/plans/HubTier.ts"
import { plans } from "#src/plans/Plan.ts"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { allTraits, routeList } from "../support/route-list.ts"

/** Nobody listens there. */
const berth = useBerth({ variables: { REDIS_URL: "redis://127.0.0.1:9/0" } })
let account: Account
let all: ReadonlyArray<RouteEntry>

beforeAll(async () => {
  all = (await Effect.runPromise(Effect.scoped(routeList))).described
  account = await berth.signUp()
}, 60_000)

/** The path with something in place of each parameter. */
const pathOf = ({ path }: RouteEntry) => path.replaceAll(/:\w+/g, "01ARZ3NDEKTSV4RRFFQ69G5FAV").replace("*", "x")
const byRate = (isHub: boolean) => all.filter((entry) => (allTraits(entry).rate === "hub") === isHub)

/** What a route answers, with the limit that its headers tell. */
const answersOf = async (entries: ReadonlyArray<RouteEntry>, token?: string) => {
  const answers = new Map<string, readonly [number, unknown, string | null]>()
  for (const entry of entries) {
    const sent = entry.method === "GET" || entry.method === "OPTIONS" ? {} : { body: {} }
    const answer = await berth.request(entry.method, pathOf(entry), { ...sent, token })
    answers.set(`${entry.method} ${entry.path}`, [
      answer.status,
      answer.body,
      answer.headers.get("x-ratelimit-limit")
    ])
  }
  return answers
}

describe("while Redis is gone", () => {
  it("each route of the hub that is limited by address is 503 service_unavailable, whoever asks", async () => {
    const limited = byRate(true)
    expect(new Set(limited.map(({ path }) => path.split("/").slice(0, 4).join("/")))).toEqual(
      new Set(["/api/v1/hub", "/v1/hub/composites", "/.well-known/mcp-skills"])
    )
    expect(limited.length).toBeGreaterThan(20)
    for (const token of [undefined, account.token, "svc_sess_wrong"]) {
      for (const [route, answer] of await answersOf(limited, token)) {
        expect(answer, `${route} ${token}`).toEqual([503, failure("service_unavailable"), expect.any(String)])
      }
    }
  })

  it("every other route stays up, at its full limit", async () => {
    const others = byRate(false)
    expect(others.length).toBeGreaterThan(100)
    for (const [route, [status, , limit]] of await answersOf(others)) {
      expect(status, route).toBeLessThan(500)
      expect(Number(limit), route).toBeGreaterThanOrEqual(plans.free.requestsPerMinute)
    }
    // Event streams don't end.
    const reads = others.filter(({ method, path }) => method === "GET" && path !== "/sse")
    for (const [route, [status]] of await answersOf(reads, account.token)) expect(status, route).toBeLessThan(500)
    expect((await account.post("/v1/projects", { name: "Meanwhile" })).status).toBe(201)
  })

  it("the log says so, once", () => {
    const told = berth.logged.filter((line) => line.includes("Redis does not work"))
    expect(told).toHaveLength(1)
    expect(told[0]).toMatch(/until it does, hub endpoints that it limits answer 503, and other requests pass without/)
  })

  it("requests with a hub key pass: their day is counted in the database", async () => {
    const client = await connectMcp(berth.url, { token: account.token })
    const made = await callTool(client, "hub_create_key", {})
    await client.close()
    const { key } = textOf(made) as { key: string }
    const taken = byRate(true).filter((entry) => entry.method === "GET" && allTraits(entry).credential === "hub")
    expect(taken.length).toBeGreaterThan(5)
    const perDay = requestsPerDay.explorer
    for (const [at, entry] of taken.entries()) {
      const answer = await berth.request("GET", pathOf(entry), { headers: { "x-api-key": key } })
      expect(answer.status, entry.path).toBeLessThan(500)
      const [limit, left] = ["limit", "remaining"].map((name) => answer.headers.get(`x-ratelimit-${name}`))
      expect([limit, left], entry.path).toEqual([String(perDay), String(perDay - at - 1)])
    }
    expect((await berth.request("GET", "/v1/hub/composites/browse", { token: key })).status).toBe(200)
  })

  it("a page's preflight is allowed all the same, so that it sees the 503 of its read", async () => {
    const open = byRate(true).filter((entry) => allTraits(entry).openToPages)
    expect(open.length).toBeGreaterThan(0)
    for (const entry of open) {
      const headers = { origin: "https://elsewhere.example" }
      const asked = {
        ...headers,
        "access-control-request-method": "GET",
        "access-control-request-headers": "x-api-key"
      }
      expect((await berth.request("OPTIONS", pathOf(entry), { headers: asked })).status, entry.path).toBe(204)
      const read = await berth.request("GET", pathOf(entry), { headers })
      expect([read.status, read.headers.get("access-control-allow-origin")], entry.path).toEqual([503, "*"])
    }
  })
})
