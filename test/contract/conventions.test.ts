import { beforeAll, describe, expect } from "vitest"
import { type Account, type Project } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type FailureBody, freshAddress } from "../support/http.ts"
import { runSql } from "../support/sql.ts"
import { row } from "./row.ts"
import { failure, invalid, timestamp } from "./shapes.ts"

const berth = useBerth()
let owner: Account
let home: Project
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  home = await owner.project("Home")
})

const now = () => Math.floor(Date.now() / 1000)

/** What the headers tell an account of the plan. */
const limitOf = async (plan: "free" | "developer" | "pro" | "enterprise") => {
  const { headers } = await (await berth.signUp(plan)).get("/v1/projects")
  return [headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]
}

/** The plan that a refusal names as the next one, and its price. */
const dearer = {
  free: { nextPlan: "developer", nextPrice: 29 },
  developer: { nextPlan: "pro", nextPrice: 99 },
  pro: { nextPlan: "enterprise", nextPrice: 199 }
} as const

/** What each plan's account may do, by trying. */
const tryRegions = async (plan: "free" | "developer" | "pro" | "enterprise") => {
  const account = await berth.signUp(plan)
  const project = await account.project()
  const allowed: Array<string> = []
  for (const region of ["ord", "iad", "lax", "ams", "syd"]) {
    const answer = await account.post<{ data: { id: string } }>(`/v1/projects/${project.id}/servers`, {
      name: "x",
      region
    })
    if (answer.status === 201) {
      allowed.push(region)
      await account.delete(`/v1/servers/${answer.body.data.id}`)
    } else {
      expect([answer.status, answer.body]).toEqual([
        403,
        failure("PLAN_LIMIT_REACHED", { limit: "region", used: region, allowed: ["ord"], plan, ...dearer.free })
      ])
    }
  }
  return allowed
}

describe("billing", () => {
  row("GET /v1/billing → 200 { data: billing status }", async () => {
    const account = await berth.signUp()
    const month = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth(), 1))
    const next = new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 1))
    const answer = await account.get("/v1/billing")
    expect([answer.status, answer.body]).toEqual([200, {
      data: {
        plan: "free",
        status: "active",
        currentPeriodStart: month.toISOString(),
        currentPeriodEnd: next.toISOString(),
        usage: { requestCount: 0, computeSeconds: 0, bandwidthBytes: 0 },
        limits: { requestsPerMonth: 10_000, computeSecondsPerMonth: 100_000, maxServers: 2 }
      }
    }])
  })

  row("billing status has plan, status, current period, usage and limits", async () => {
    const account = await berth.signUp("enterprise")
    await runSql(
      berth.databaseUrl,
      `INSERT INTO usage (account_id, period, request_count, compute_milliseconds, bandwidth_bytes) VALUES
        ($1, date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', 12, 3400, 9007199254740991),
        ($1, (date_trunc('month', now() AT TIME ZONE 'UTC') - interval '1 month') AT TIME ZONE 'UTC', 99, 99, 99)`,
      [account.id]
    )
    expect((await account.get("/v1/billing")).body).toEqual({
      data: {
        plan: "enterprise",
        status: "active",
        currentPeriodStart: timestamp,
        currentPeriodEnd: timestamp,
        usage: { requestCount: 12, computeSeconds: 3, bandwidthBytes: 9007199254740991 },
        limits: { requestsPerMonth: null, computeSecondsPerMonth: null, maxServers: null }
      }
    })
  })
})

describe("credentials", () => {
  row("platform endpoints take an API key or a session as Bearer", async () => {
    const key = await owner.holder(home.id)
    for (const holder of [owner, key]) {
      for (const path of ["/v1/projects", "/v1/servers", "/v1/billing", "/v1/auth/me"]) {
        expect((await holder.get(path)).status, path).toBe(200)
      }
    }
    const lowerCase = { headers: { authorization: `bearer ${owner.token}` } }
    expect((await berth.request("GET", "/v1/projects", lowerCase)).status).toBe(200)
  })

  row("a missing or invalid credential gets 401", async () => {
    const bad = ["", "Bearer", "Bearer ", "Basic YTpi", `Token ${owner.token}`, "Bearer x y", "Bearer svc_live_x"]
    for (const authorization of [undefined, ...bad, `Bearer ${owner.token}x`, "Bearer hub_live_x", owner.token]) {
      const headers = authorization === undefined ? {} : { authorization }
      const answer = await berth.request("GET", "/v1/projects", { headers })
      expect([answer.status, answer.body], String(authorization)).toEqual([401, failure("UNAUTHORIZED")])
      expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/)
    }
  })
})

describe("errors", () => {
  row("failures are { error: { code, message, details? } } with an uppercase code", async () => {
    const answers = [
      await owner.get("/v1/projects/prj_x"),
      await owner.get("/v1/nothing"),
      await owner.post("/v1/projects", {}),
      await owner.request("POST", "/v1/projects", { body: "{" }),
      await owner.get("/v1/projects?limit=0"),
      await berth.request("GET", "/v1/projects")
    ]
    for (const { body, headers } of answers) {
      const { error } = body as FailureBody
      expect(headers.get("content-type")).toMatch(/^application\/json/)
      expect(Object.keys(body as object)).toEqual(["error"])
      expect(Object.keys(error).filter((key) => key !== "details")).toEqual(["code", "message"])
      expect(error.code).toMatch(/^[A-Z_]+$/)
    }
  })

  row("400 Bad request", async () => {
    const answer = await owner.request("POST", "/v1/projects", { body: "{\"name\":" })
    expect([answer.status, answer.body]).toEqual([400, failure("BAD_REQUEST")])
  })

  row("401 Unauthenticated", async () => {
    const answer = await berth.request("GET", "/v1/servers")
    expect([answer.status, answer.body]).toEqual([401, failure("UNAUTHORIZED")])
  })

  row("403 Forbidden (insufficient scope)", async () => {
    const key = await owner.holder(home.id, ["logs:read"])
    const answer = await key.get("/v1/servers")
    expect([answer.status, answer.body]).toEqual([403, failure("FORBIDDEN", expect.any(Object))])
  })

  row("404 Not found", async () => {
    for (
      const path of ["/v1/servers/srv_01J00000000000000000000000", "/v1/servers/x", "/v1/x", "/x", "/v1/servers//x"]
    ) {
      const answer = await owner.get(path)
      expect([answer.status, answer.body], path).toEqual([404, failure("NOT_FOUND")])
    }
  })

  row("409 Conflict", async () => {
    await owner.server(home.id, { slug: "taken-once" })
    const answer = await owner.post(`/v1/projects/${home.id}/servers`, { name: "x", slug: "taken-once" })
    expect([answer.status, answer.body]).toEqual([409, failure("CONFLICT")])
  })

  row("422 Unprocessable entity", async () => {
    const answer = await owner.post("/v1/projects", { nom: "x" })
    expect([answer.status, answer.body]).toEqual([422, invalid("nom", "name")])
  })

  row("429 Rate limited", async () => {
    const address = freshAddress()
    for (let i = 0; i < 100; i++) await berth.request("GET", "/v1/x", { headers: { "x-forwarded-for": address } })
    const answer = await berth.request("GET", "/v1/x", { headers: { "x-forwarded-for": address } })
    expect([answer.status, answer.body]).toEqual([429, failure("RATE_LIMITED")])
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1)
    expect(Number(answer.headers.get("retry-after"))).toBeLessThanOrEqual(60)
  })

  row("501 Not implemented (server metrics)", async () => {
    const answer = await owner.get(`/v1/servers/${(await owner.server(home.id)).id}/metrics`)
    // They are implemented: nothing of the contract answers so any more.
    expect(answer.status).toBe(200)
  })
})

describe("limits", () => {
  row("free plan: 100 requests per minute", async () => expect(await limitOf("free")).toEqual(["100", "99"]))
  row(
    "developer plan: 1,000 requests per minute",
    async () => expect(await limitOf("developer")).toEqual(["1000", "999"])
  )
  row("pro plan: 10,000 requests per minute", async () => expect(await limitOf("pro")).toEqual(["10000", "9999"]))

  row("every response has X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset (Unix seconds)", async () => {
    const key = await owner.holder(home.id, ["logs:read"])
    const answers = await Promise.all([
      owner.get("/v1/projects"),
      owner.post("/v1/projects", { name: "x" }),
      owner.delete(`/v1/projects/${(await owner.project()).id}`),
      owner.post("/v1/projects", {}),
      owner.request("POST", "/v1/projects", { body: "{" }),
      owner.get("/v1/projects?cursor=x"),
      owner.get("/v1/projects/x"),
      owner.request("PROPFIND", "/v1/projects"),
      key.get("/v1/servers"),
      berth.request("GET", "/v1/projects"),
      berth.request("GET", "/v1/health"),
      berth.request("HEAD", "/v1/health"),
      berth.request("OPTIONS", "/v1/projects"),
      berth.request("GET", "/openapi.json"),
      berth.request("GET", "/docs"),
      berth.request("GET", "/"),
      berth.request("GET", "/nowhere"),
      berth.request("GET", "/%zz"),
      berth.request("POST", "/mcp", { body: {} }),
      owner.request("POST", "/mcp", { body: {} }),
      owner.request("POST", "/message?sessionId=x", { body: {} })
    ])
    for (const [at, { headers, status }] of answers.entries()) {
      const limit = Number(headers.get("x-ratelimit-limit"))
      const remaining = headers.get("x-ratelimit-remaining")
      const reset = Number(headers.get("x-ratelimit-reset"))
      expect([100, 1_000, 100_000].includes(limit), `${at} ${status}`).toBe(true)
      expect(remaining).toMatch(/^\d+$/)
      expect(Number(remaining)).toBeLessThan(limit)
      expect([Number.isInteger(reset), reset >= now(), reset <= now() + 61], String(at)).toEqual([true, true, true])
      expect(headers.get("x-request-id")).toMatch(/\S/)
    }
  })

  row("servers: free 2, developer 10, pro 50, enterprise unlimited", async () => {
    for (const [plan, most] of [["free", 2], ["developer", 10], ["pro", 50], ["enterprise", null]] as const) {
      const account = await berth.signUp(plan)
      const project = await account.project()
      for (let i = 0; i < (most ?? 51); i++) await account.server(project.id)
      const more = await account.post(`/v1/projects/${project.id}/servers`, { name: "x" })
      expect([plan, more.status, more.body]).toEqual(
        most === null
          ? [plan, 201, expect.any(Object)]
          : [
            plan,
            403,
            failure("PLAN_LIMIT_REACHED", { limit: "servers", used: most, allowed: most, plan, ...dearer[plan] })
          ]
      )
    }
  })

  row("requests per month: free 10,000, developer 100,000, pro 1,000,000, enterprise unlimited", async () => {
    for (const [plan, most] of [["free", 1e4], ["developer", 1e5], ["pro", 1e6], ["enterprise", null]] as const) {
      expect((await (await berth.signUp(plan)).get("/v1/billing")).body, plan).toMatchObject({
        data: { limits: { requestsPerMonth: most } }
      })
    }
  })

  row("regions: free ord only, others all", async () => {
    const all = ["ord", "iad", "lax", "ams", "syd"]
    expect(await tryRegions("free")).toEqual(["ord"])
    for (const plan of ["developer", "pro", "enterprise"] as const) expect(await tryRegions(plan)).toEqual(all)
  })

  row("auto-stop: free required, others optional", async () => {
    for (const plan of ["free", "developer", "pro", "enterprise"] as const) {
      const account = await berth.signUp(plan)
      const project = await account.project()
      const body = { name: "x", autoStopSeconds: null }
      const made = await account.post(`/v1/projects/${project.id}/servers`, body)
      const server = await account.server(project.id)
      const changed = await account.patch(`/v1/servers/${server.id}`, { autoStopSeconds: null })
      for (const answer of [made, changed]) {
        if (plan === "free") {
          expect([answer.status, answer.body]).toEqual([
            403,
            failure("PLAN_LIMIT_REACHED", {
              limit: "autoStop",
              used: "never",
              allowed: "required",
              plan,
              ...dearer.free
            })
          ])
        } else expect(answer.body, plan).toMatchObject({ data: { autoStopSeconds: null } })
      }
    }
  })

  row("timestamps are ISO 8601 UTC strings", async () => {
    const server = await owner.server(home.id)
    await owner.post(`/v1/servers/${server.id}/env`, { name: "A", value: "b" })
    const bodies = await Promise.all(
      ["projects", "servers", `projects/${home.id}/keys`, "billing", "auth/me"].map((path) => owner.get(`/v1/${path}`))
    )
    const found = bodies.flatMap(({ text }) => [...text.matchAll(/"(\w+(?:At|Start|End))":("[^"]*"|\w+)/g)])
    expect(found.length).toBeGreaterThan(8)
    for (const [, name, value] of found) {
      if (value !== "null") expect(JSON.parse(value ?? ""), String(name)).toEqual(timestamp)
    }
  })
})
