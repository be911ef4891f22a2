import { PlanName } from "#src/plans/Plan.ts"
import { describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { businesses, newBusiness } from "../support/business.ts"
import { upload } from "../support/imports.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { runSql } from "../support/sql.ts"
import { row } from "./row.ts"
import { failure } from "./shapes.ts"

const berth = useBerth()
const sql = (statement: string, ...values: ReadonlyArray<unknown>) => runSql(berth.databaseUrl, statement, values)

interface Plan {
  readonly plan: string
  readonly price: { readonly amount: number }
  readonly limits: Readonly<Record<string, number | null>>
}

/** As many projects as the free plan allows, or businesses. */
const fill = {
  projects: (account: Account) =>
    sql(
      "INSERT INTO projects (id, account_id, name, slug) SELECT 'p' || n || $1, $1, 'P', 'p' || n FROM generate_series(1, 19) n",
      account.id
    ),
  businesses: (projectId: string) =>
    sql(
      `INSERT INTO businesses (id, project_id, name, slug, industry, template_type)
        SELECT 'b' || n || $1, $1, 'B', 'b' || n || $1, 'custom', 'custom' FROM generate_series(1, 19) n`,
      projectId
    )
}

const everywhere = ["ord", "iad", "lax", "ams", "syd"]
const price = (amount: number) => ({ amount, currency: "USD", per: "month" })

/** Contract: Limits, plan comparison; what it leaves open is this installation's. */
const everyPlan = [
  {
    plan: "free",
    price: price(0),
    limits: {
      requestsPerMonth: 10_000,
      computeSecondsPerMonth: 100_000,
      maxServers: 2,
      maxProjects: 20,
      maxBusinesses: 20,
      requestsPerMinute: 100,
      deploymentsKept: 3,
      logDays: 7,
      logLines: 10_000,
      maxPreviewBytes: 50e6,
      maxDocumentBytes: 50e6,
      maxImageBytes: 2e9,
      maxUploadBytes: 2e9
    },
    regions: ["ord"],
    autoStopRequired: true,
    listingTier: "basic",
    customDomains: false,
    egress: "none"
  },
  {
    plan: "developer",
    price: price(29),
    limits: {
      requestsPerMonth: 100_000,
      computeSecondsPerMonth: 1_000_000,
      maxServers: 10,
      maxProjects: 100,
      maxBusinesses: 100,
      requestsPerMinute: 1_000,
      deploymentsKept: 10,
      logDays: 14,
      logLines: 20_000,
      maxPreviewBytes: 200e6,
      maxDocumentBytes: 200e6,
      maxImageBytes: 20e9,
      maxUploadBytes: 20e9
    },
    regions: everywhere,
    autoStopRequired: false,
    listingTier: "featured",
    customDomains: false,
    egress: "none"
  },
  {
    plan: "pro",
    price: price(99),
    limits: {
      requestsPerMonth: 1_000_000,
      computeSecondsPerMonth: 10_000_000,
      maxServers: 50,
      maxProjects: 500,
      maxBusinesses: 1_000,
      requestsPerMinute: 10_000,
      deploymentsKept: 10,
      logDays: 30,
      logLines: 50_000,
      maxPreviewBytes: 500e6,
      maxDocumentBytes: 1e9,
      maxImageBytes: 100e9,
      maxUploadBytes: 100e9
    },
    regions: everywhere,
    autoStopRequired: false,
    listingTier: "premium",
    customDomains: true,
    egress: "none"
  },
  {
    plan: "enterprise",
    price: price(199),
    limits: {
      requestsPerMonth: null,
      computeSecondsPerMonth: null,
      maxServers: null,
      maxProjects: null,
      maxBusinesses: null,
      requestsPerMinute: 100_000,
      deploymentsKept: 10,
      logDays: 90,
      logLines: 100_000,
      maxPreviewBytes: 2e9,
      maxDocumentBytes: 10e9,
      maxImageBytes: null,
      maxUploadBytes: null
    },
    regions: everywhere,
    autoStopRequired: false,
    listingTier: "premium",
    customDomains: true,
    egress: "none"
  }
]

describe("plans", () => {
  row("GET /v1/plans → 200 { data: [plan, ...] }, public, with every limit and price", async () => {
    const answer = await berth.request<{ data: ReadonlyArray<Plan> }>("GET", "/v1/plans", {
      headers: { origin: "https://a.example" }
    })
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, "*"])
    const { data } = answer.body
    expect(data).toEqual(everyPlan)
    for (const plan of PlanName.literals) {
      const account = await berth.signUp(plan)
      const billing = await account.get<{ data: { limits: object } }>("/v1/billing")
      expect(data.find((listed) => listed.plan === plan)?.limits).toMatchObject(billing.body.data.limits)
      // A key of the hub has no account's scopes, and may know what it costs, too.
      const client = await connectMcp(berth.url, { token: account.token })
      expect((await callTool(client, "list_plans")).structuredContent).toEqual({ data: everyPlan })
      await client.close()
    }
  })

  row("PLAN_LIMIT_REACHED has details { limit, used, allowed, plan, nextPlan, nextPrice }", async () => {
    const account = await berth.signUp()
    const project = await account.project()
    const business = await newBusiness(account, { projectId: project.id })
    await fill.projects(account)
    await fill.businesses(project.id)
    const server = await account.server(project.id)
    await account.server(project.id)
    await upload(account, business.id, "a.csv", "name\nSoup\n")
    await sql("UPDATE import_previews SET bytes = 50e6 WHERE business_id = $1", business.id)
    const paths = { servers: `/v1/projects/${project.id}/servers`, server: `/v1/servers/${server.id}` }
    const refusals = [
      ["servers", 2, 2, () => account.post(paths.servers, { name: "x" }), "create_server", {
        projectId: project.id,
        name: "x"
      }],
      ["region", "syd", ["ord"], () => account.post(paths.servers, { name: "x", region: "syd" }), "create_server", {
        projectId: project.id,
        name: "x",
        region: "syd"
      }],
      ["autoStop", "never", "required", () => account.patch(paths.server, { autoStopSeconds: null }), "update_server", {
        serverId: server.id,
        autoStopSeconds: null
      }],
      ["projects", 20, 20, () => account.post("/v1/projects", { name: "x" }), "create_project", { name: "x" }],
      ["businesses", 20, 20, () => account.post(businesses, { projectId: project.id, name: "x" }), "create_business", {
        projectId: project.id,
        name: "x"
      }],
      ["previewBytes", 50e6, 50e6, () => upload(account, business.id, "a.csv", "name\nSoup\n"), "import", {
        businessId: business.id,
        filename: "a.csv",
        content: "name\nSoup\n"
      }]
    ] as const
    const client = await connectMcp(berth.url, { token: account.token })
    for (const [limit, used, allowed, send, tool, input] of refusals) {
      const details = { limit, used, allowed, plan: "free", nextPlan: "developer", nextPrice: 29 }
      const { body, status, text } = await send()
      const code = text.includes("PLAN_LIMIT_REACHED") ? "PLAN_LIMIT_REACHED" : "plan_limit_reached"
      expect([status, body], limit).toEqual([403, failure(code, details)])
      expect(text).toContain("change to the developer plan (29 USD a month)")
      const called = await callTool(client, tool, input)
      expect([called.isError, textOf(called)], tool).toEqual([true, body])
    }
    await client.close()
  })

  it("allow as many servers as they say, in their regions, and the refusal names the plan that allows more", async () => {
    const allowed = [["free", 2, "developer", 29], ["developer", 10, "pro", 99], [
      "pro",
      50,
      "enterprise",
      199
    ]] as const
    for (const [plan, most, nextPlan, nextPrice] of allowed) {
      const account = await berth.signUp(plan)
      const project = await account.project()
      const path = `/v1/projects/${project.id}/servers`
      const first = await account.server(project.id, plan === "free" ? {} : { region: "ams", autoStopSeconds: null })
      await sql(
        "INSERT INTO slugs (slug, account_id) SELECT 'q' || n || lower($1), $1 FROM generate_series(3, $2::int) n",
        account.id,
        most
      )
      // Copies of the first one, but for the last.
      await sql(
        `INSERT INTO servers SELECT (jsonb_populate_record(s, jsonb_build_object('id', 'q' || n || lower($1),
            'slug', 'q' || n || lower($1), 'replay_token', 'q' || n || $1))).*
          FROM servers s, generate_series(3, $2::int) n WHERE s.id = $3`,
        account.id,
        most,
        first.id
      )
      const answers = await Promise.all([1, 2, 3].map((n) => account.post(path, { name: `Last ${n}` })))
      expect(answers.map(({ status }) => status).sort(), plan).toEqual([201, 403, 403])
      const details = { limit: "servers", used: most, allowed: most, plan, nextPlan, nextPrice }
      expect(answers.find(({ status }) => status === 403)?.body).toEqual(failure("PLAN_LIMIT_REACHED", details))
    }
  })

  row(
    "GET /v1/billing/usage → 200 { data: { plan, month, startsAt, resetsAt, usage, limits[], days[] } }",
    async () => {
      const account = await berth.signUp("developer")
      const project = await account.project()
      await account.server(project.id)
      const thisMonth = `${new Date(berth.now()).toISOString().slice(0, 7)}-01T00:00:00.000Z`
      await sql(
        `INSERT INTO usage (account_id, period, request_count, compute_milliseconds, bandwidth_bytes) VALUES
        ($1, '${thisMonth}', 150000, 7200999, 9007199254740991)`,
        account.id
      )
      await sql(
        `INSERT INTO usage_days (account_id, day, request_count, compute_milliseconds, bandwidth_bytes) VALUES
        ($1, '2026-01-31', 7, 7, 7), ($1, '2026-02-02', 100000, 7199000, 1), ($1, '2026-02-28', 50000, 1000, 2),
        ($1, '2026-03-01', 8, 8, 8)`,
        account.id
      )
      const answer = await account.get<{ data: { days: ReadonlyArray<object> } }>("/v1/billing/usage?month=2026-02")
      expect([answer.status, answer.body.data]).toEqual([200, {
        plan: "developer",
        month: "2026-02",
        startsAt: "2026-02-01T00:00:00.000Z",
        resetsAt: "2026-03-01T00:00:00.000Z",
        usage: { requestCount: 150_000, computeSeconds: 7200, bandwidthBytes: 3 },
        limits: [
          { limit: "requestsPerMonth", used: 150_000, allowed: 100_000, reached: 100, over: true },
          { limit: "computeSecondsPerMonth", used: 7200, allowed: 1_000_000, reached: null, over: false },
          { limit: "servers", used: 1, allowed: 10, reached: null, over: false },
          { limit: "projects", used: 1, allowed: 100, reached: null, over: false },
          { limit: "businesses", used: 0, allowed: 100, reached: null, over: false },
          { limit: "previewBytes", used: 0, allowed: 200e6, reached: null, over: false },
          { limit: "documentBytes", used: 0, allowed: 200e6, reached: null, over: false },
          { limit: "imageBytes", used: 0, allowed: 20e9, reached: null, over: false },
          { limit: "uploadBytes", used: 0, allowed: 20e9, reached: null, over: false },
          { limit: "region", used: 0, allowed: null, reached: null, over: false },
          { limit: "autoStop", used: 0, allowed: null, reached: null, over: false }
        ],
        days: expect.any(Array)
      }])
      const { days } = answer.body.data
      expect(days.length).toBe(28)
      const day = (number: string, counts: object) => ({
        day: `2026-02-${number}`,
        requestCount: 0,
        computeSeconds: 0,
        bandwidthBytes: 0,
        ...counts
      })
      expect(days.slice(0, 3)).toEqual([
        day("01", {}),
        day("02", { requestCount: 100_000, computeSeconds: 7199, bandwidthBytes: 1 }),
        day("03", {})
      ])
      expect(days.at(-1)).toEqual(day("28", { requestCount: 50_000, computeSeconds: 1, bandwidthBytes: 2 }))
      const today = new Date(berth.now()).toISOString().slice(0, 10)
      const current = await account.get<{ data: { days: ReadonlyArray<{ day: string }> } }>("/v1/billing/usage")
      expect(current.body.data).toMatchObject({
        month: null,
        startsAt: thisMonth,
        usage: { requestCount: 150_000, computeSeconds: 7200, bandwidthBytes: 9007199254740991 }
      })
      expect(current.body.data.days.at(-1)?.day).toBe(today)
      expect((await account.get("/v1/billing/usage?month=2999-12")).body).toMatchObject({ data: { days: [] } })
      for (const month of ["2026", "0001-01", "9999-12", "2026-13", "2026-02-01", "02-2026", ""]) {
        const refused = await account.get(`/v1/billing/usage?month=${month}`)
        expect([refused.status, refused.body], month).toEqual([400, failure("BAD_REQUEST", expect.any(Object))])
        expect(refused.text).toContain("must be a month such as 2027-03")
      }
      const client = await connectMcp(berth.url, { token: account.token })
      const called = await callTool(client, "get_usage", { month: "2026-02" })
      expect(called.structuredContent).toEqual(answer.body.data)
      await client.close()
    }
  )

  row("a smaller plan destroys nothing: what is over its limits is told, and only new things are refused", async () => {
    const account = await berth.signUp("developer")
    const project = await account.project()
    const path = `/v1/projects/${project.id}/servers`
    const made = [
      await account.server(project.id, { region: "syd", autoStopSeconds: null }),
      await account.server(project.id, { region: "iad" }),
      await account.server(project.id)
    ]
    const business = await newBusiness(account, { projectId: project.id })
    await sql("UPDATE users SET plan = 'free' WHERE id = $1", account.id)
    const over = async () => {
      const { body } = await account.get<{ data: { limits: ReadonlyArray<{ over: boolean }> } }>("/v1/billing/usage")
      return body.data.limits.filter((limit) => limit.over)
    }
    expect(await over()).toEqual([
      { limit: "servers", used: 3, allowed: 2, reached: 100, over: true },
      { limit: "region", used: 2, allowed: 0, reached: null, over: true },
      { limit: "autoStop", used: 1, allowed: 0, reached: null, over: true }
    ])
    expect((await account.get<{ data: ReadonlyArray<object> }>("/v1/servers")).body.data.toReversed()).toEqual(
      made.map((one) => ({ ...one, deploymentsKept: 3 }))
    )
    // They can still be changed, and what is changed need not be what is over.
    const changed = await account.patch<{ data: object }>(`/v1/servers/${made[0]?.id}`, { name: "Renamed" })
    expect([changed.status, changed.body.data]).toMatchObject([200, { region: "syd", autoStopSeconds: null }])
    const resent = await account.patch(`/v1/servers/${made[0]?.id}`, { name: "As it was", autoStopSeconds: null })
    expect([resent.status, resent.body]).toMatchObject([200, { data: { name: "As it was", autoStopSeconds: null } }])
    expect((await account.patch(`/v1/servers/${made[1]?.id}`, { name: "Lost", autoStopSeconds: null })).status).toBe(
      403
    )
    expect((await account.post(path, { name: "x" })).body).toEqual(
      failure("PLAN_LIMIT_REACHED", {
        limit: "servers",
        used: 3,
        allowed: 2,
        plan: "free",
        nextPlan: "developer",
        nextPrice: 29
      })
    )
    expect((await account.patch(`/api/v1/ready/businesses/${business.id}`, { description: "As ever" })).status).toBe(
      200
    )
    for (const { id } of made.slice(1)) expect((await account.delete(`/v1/servers/${id}`)).status).toBe(204)
    expect((await account.post(path, { name: "Second" })).status).toBe(201)
    expect((await account.patch(`/v1/servers/${made[0]?.id}`, { autoStopSeconds: 60 })).status).toBe(200)
    expect(await over()).toEqual([{ limit: "region", used: 1, allowed: 0, reached: null, over: true }])
  })
})
