import { PlanName, plans } from "#src/plans/Plan.ts"
import { describe, expect } from "vitest"
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

describe("plans", () => {
  row("GET /v1/plans → 200 { data: [plan, ...] }, public, with every limit and price", async () => {
    const answer = await berth.request<{ data: ReadonlyArray<Plan> }>("GET", "/v1/plans", {
      headers: { origin: "https://a.example" }
    })
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, "*"])
    const { data } = answer.body
    expect(data.map(({ plan, price }) => [plan, price])).toEqual([
      ["free", { amount: 0, currency: "USD", per: "month" }],
      ["developer", { amount: 29, currency: "USD", per: "month" }],
      ["pro", { amount: 99, currency: "USD", per: "month" }],
      ["enterprise", { amount: 199, currency: "USD", per: "month" }]
    ])
    expect(data[0]).toEqual({
      plan: "free",
      price: { amount: 0, currency: "USD", per: "month" },
      limits: {
        requestsPerMonth: 10_000,
        computeSecondsPerMonth: 100_000,
        maxServers: 2,
        maxProjects: 20,
        maxBusinesses: 20,
        requestsPerMinute: 100,
        deploymentsKept: 3,
        maxPreviewBytes: 50e6,
        maxDocumentBytes: 50e6,
        maxImageBytes: 2e9
      },
      regions: ["ord"],
      autoStopRequired: true,
      listingTier: "basic",
      customDomains: false
    })
    for (const plan of PlanName.literals) {
      const account = await berth.signUp(plan)
      const billing = await account.get<{ data: { limits: object } }>("/v1/billing")
      expect(data.find((listed) => listed.plan === plan)?.limits).toMatchObject(billing.body.data.limits)
      // A key of the hub has no account's scopes, and may know what it costs, too.
      const client = await connectMcp(berth.url, { token: account.token })
      expect((await callTool(client, "list_plans")).structuredContent).toEqual(answer.body)
      await client.close()
    }
    const listed = data.map(({ limits }) => Object.keys(limits).length)
    expect(listed).toEqual(data.map(() => Object.keys(plans.free.quotas).length - 1 + 5))
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
})
