import { plans } from "#src/plans/Plan.ts"
import { beforeEach, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account, dataOf, type Project } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { businesses, newBusiness } from "../support/business.ts"
import { confirm, importOf, upload } from "../support/imports.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()
let free: Account
beforeEach(async () => {
  free = await berth.signUp()
})

const sql = (statement: string, ...values: ReadonlyArray<unknown>) => runSql(berth.databaseUrl, statement, values)
const { quotas } = plans.free

const projectsOf = (account: Account, count: number) =>
  sql(
    "INSERT INTO projects (id, account_id, name, slug) SELECT 'p' || n || $1, $1, 'P', 'p' || n FROM generate_series(1, $2::int) n",
    account.id,
    count
  )

const businessesOf = async (account: Account, projectId: string, count: number) => {
  await sql(
    `INSERT INTO businesses (id, project_id, name, slug, industry, template_type)
      SELECT 'b' || n || $1, $1, 'B', 'b' || n || $1, 'custom', 'custom' FROM generate_series(1, $2::int) n`,
    projectId,
    count
  )
}

const statuses = (answers: ReadonlyArray<{ readonly status: number }>) => answers.map(({ status }) => status).sort()

describe("a plan's projects", () => {
  it("are as many as it says, however many are created at once; a deleted one makes room", async () => {
    await projectsOf(free, 19)
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => free.post<{ data: Project }>("/v1/projects", { name: "Last" }))
    )
    expect(statuses(answers)).toEqual([201, 403, 403, 403, 403])
    const details = { limit: "projects", plan: "free", used: 20, allowed: 20, nextPlan: "developer", nextPrice: 29 }
    for (const { body, status } of answers) {
      if (status === 403) expect(body).toEqual(failure("PLAN_LIMIT_REACHED", details))
    }
    const created = answers.find(({ status }) => status === 201)
    expect((await free.delete(`/v1/projects/${created?.body.data.id}`)).status).toBe(204)
    expect((await free.post("/v1/projects", { name: "Last" })).status).toBe(201)
    await sql("UPDATE users SET plan = 'developer' WHERE id = $1", free.id)
    expect((await free.post("/v1/projects", { name: "More" })).status).toBe(201)
  })
})

describe("a plan's businesses", () => {
  it("are as many as it says, however many are created at once, over HTTP and MCP", async () => {
    const project = await free.project()
    await businessesOf(free, project.id, 19)
    const create = () => free.post(businesses, { projectId: project.id, name: "Last" })
    expect(statuses(await Promise.all([create(), create(), create()]))).toEqual([201, 403, 403])
    const refused = failure("plan_limit_reached", {
      limit: "businesses",
      plan: "free",
      used: 20,
      allowed: 20,
      nextPlan: "developer",
      nextPrice: 29
    })
    expect((await create()).body).toEqual(refused)
    const client = await connectMcp(berth.url, { token: free.token })
    const called = await callTool(client, "create_business", { projectId: project.id, name: "Last" })
    expect([called.isError, textOf(called)]).toEqual([true, refused])
    await client.close()
  })
})

describe("a plan's previews", () => {
  const used = async () => {
    const [row] = await sql(
      `SELECT sum(v.bytes)::int AS bytes FROM import_previews v JOIN businesses b ON b.id = v.business_id
        JOIN projects p ON p.id = b.project_id WHERE p.account_id = $1`,
      free.id
    )
    return Number(row?.["bytes"])
  }
  const csv = "name,description\nSoup,Red\n"
  const filled = async (bytes: number) => {
    const { id } = await newBusiness(free)
    const { preview_id } = dataOf(await upload(free, id, "a.csv", csv))
    const each = await used()
    await sql("UPDATE import_previews SET bytes = $1 WHERE id = $2", bytes, preview_id)
    return { id, preview_id, each }
  }

  it("take as many bytes as it says, however many are uploaded at once; a confirm or a discard makes room", async () => {
    const { each, id, preview_id } = await filled(1)
    const full = quotas.previewBytes! - 2 * each
    await sql("UPDATE import_previews SET bytes = $1 WHERE id = $2", full, preview_id)
    const others = await Promise.all([newBusiness(free), newBusiness(free), newBusiness(free), newBusiness(free)])
    const answers = await Promise.all(others.map((business) => upload(free, business.id, "a.csv", csv)))
    expect(statuses(answers)).toEqual([200, 200, 403, 403])
    const refused = answers.find(({ status }) => status === 403)
    expect(refused?.body).toEqual(failure("plan_limit_reached", {
      limit: "previewBytes",
      plan: "free",
      used: quotas.previewBytes,
      allowed: quotas.previewBytes,
      nextPlan: "developer",
      nextPrice: 29
    }))
    expect(refused?.text).toContain("50 MB")
    expect((await free.delete(`${importOf(id)}/${preview_id}`)).status).toBe(204)
    const { preview_id: next } = dataOf(await upload(free, id, "a.csv", csv))
    expect((await confirm(free, id, next)).status).toBe(200)
    expect(await used()).toBe(2 * each)
  })

  it("that expired count no more, and can't be confirmed as ever", async () => {
    const { id, preview_id } = await filled(quotas.previewBytes!)
    expect((await upload(free, id, "a.csv", csv)).status).toBe(403)
    await sql("UPDATE import_previews SET expires_at = now() - interval '1 second' WHERE id = $1", preview_id)
    expect((await upload(free, id, "a.csv", csv)).status).toBe(200)
    expect(await confirm(free, id, preview_id)).toMatchObject({
      status: 422,
      body: { error: { code: "preview_expired" } }
    })
  })
})
