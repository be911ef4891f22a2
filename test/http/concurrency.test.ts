import { beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account, type Listed, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Answer } from "../support/http.ts"
import { itLong } from "../support/needs.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
})

const times = <A>(count: number, run: (index: number) => Promise<A>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)))
const statusesOf = (answers: ReadonlyArray<Answer>) => answers.map(({ status }) => status).sort()

describe("at once", () => {
  itLong("ten creations on the free plan make exactly two servers, in one project or many", async () => {
    for (const projects of [1, 10]) {
      const free = await berth.signUp()
      const ids = await times(projects, async (n) => (await free.project(`P${n}`)).id)
      const answers = await times(10, (n) => free.post(`/v1/projects/${ids[n % projects]}/servers`, { name: "x" }))
      expect(statusesOf(answers)).toEqual([201, 201, ...Array(8).fill(403)])
      for (const { body, status } of answers) {
        if (status === 403) {
          expect(body).toEqual(failure("PLAN_LIMIT_REACHED", {
            limit: "servers",
            plan: "free",
            used: 2,
            allowed: 2,
            nextPlan: "developer",
            nextPrice: 29
          }))
        }
      }
      expect((await free.get("/v1/servers")).body).toMatchObject({ meta: { total: 2 } })
    }
  })

  it("a deleted server makes room for one", async () => {
    const free = await berth.signUp()
    const project = await free.project()
    const first = await free.server(project.id)
    await free.server(project.id)
    expect((await free.post(`/v1/projects/${project.id}/servers`, { name: "x" })).status).toBe(403)
    await free.delete(`/v1/servers/${first.id}`)
    expect(statusesOf(await times(3, () => free.post(`/v1/projects/${project.id}/servers`, { name: "x" }))))
      .toEqual([201, 403, 403])
  })

  it("one slug is given once, to one account or several", async () => {
    const project = await owner.project()
    const mine = await times(8, () => owner.post(`/v1/projects/${project.id}/servers`, { name: "x", slug: "race-one" }))
    expect(statusesOf(mine)).toEqual([201, ...Array(7).fill(409)])
    const accounts = await times(5, async () => {
      const account = await berth.signUp("enterprise")
      return { account, project: await account.project() }
    })
    const theirs = await Promise.all(
      accounts.map(({ account, project }) =>
        account.post(`/v1/projects/${project.id}/servers`, { name: "x", slug: "race-two" })
      )
    )
    expect(statusesOf(theirs)).toEqual([201, ...Array(4).fill(409)])
  })

  it("servers of one name all get slugs, each its own", async () => {
    const accounts = await times(2, () => berth.signUp("enterprise"))
    const projects = await Promise.all(accounts.map((account) => account.project()))
    const made = await times(12, (n) => accounts[n % 2]!.server(projects[n % 2]!.id, { name: "Same for all" }))
    expect(new Set(made.map(({ slug }) => slug)).size).toBe(12)
  })

  it("projects of one name all get slugs, each its own", async () => {
    const made = await times(10, () => owner.project("Same for all"))
    expect(new Set(made.map(({ slug }) => slug)).size).toBe(10)
  })

  it("one variable set many times is created once", async () => {
    const server = await owner.server((await owner.project()).id)
    const answers = await times(12, (n) =>
      n % 2 === 0
        ? owner.post(`/v1/servers/${server.id}/env`, { name: "RACE", value: String(n) })
        : owner.put(`/v1/servers/${server.id}/env/RACE`, { value: String(n) }))
    expect(statusesOf(answers)).toEqual([...Array(11).fill(200), 201])
    expect((await owner.get(`/v1/servers/${server.id}/env`)).body).toEqual({ data: ["RACE"] })
  })

  itLong("many variables stop at a hundred", async () => {
    const server = await owner.server((await owner.project()).id)
    for (let n = 0; n < 95; n++) await owner.put(`/v1/servers/${server.id}/env/V${n}`, { value: "x" })
    const answers = await times(10, (n) => owner.put(`/v1/servers/${server.id}/env/W${n}`, { value: "x" }))
    expect(statusesOf(answers)).toEqual([...Array(5).fill(201), ...Array(5).fill(409)])
    expect((await owner.put(`/v1/servers/${server.id}/env/V0`, { value: "y" })).status).toBe(200)
  })

  itLong("a project's deletion and creations in it end with nothing left over and no failure of ours", async () => {
    for (let round = 0; round < 8; round++) {
      const project = await owner.project()
      const [removed, ...created] = await Promise.all([
        owner.delete(`/v1/projects/${project.id}`),
        ...Array.from({ length: 4 }, () => owner.post(`/v1/projects/${project.id}/servers`, { name: "x" })),
        owner.post(`/v1/projects/${project.id}/keys`, { name: "x", scopes: ["servers:read"] })
      ])
      expect(removed.status).toBe(204)
      for (const { status } of created) expect([201, 404]).toContain(status)
      const left = await runSql(
        berth.databaseUrl,
        "SELECT id FROM servers WHERE project_id = $1 UNION SELECT id FROM api_keys WHERE project_id = $1",
        [project.id]
      )
      expect(left).toEqual([])
    }
  })

  itLong("a server's deletion and changes of it end with nothing left over and no failure of ours", async () => {
    const project = await owner.project()
    for (let round = 0; round < 8; round++) {
      const server = await owner.server(project.id)
      const path = `/v1/servers/${server.id}`
      const [removed, ...others] = await Promise.all([
        owner.delete(path),
        owner.put(`${path}/env/A`, { value: "x" }),
        owner.patch(path, { name: "y" }),
        owner.put(`${path}/auth`, { authMode: "service_managed", access: "owner" }),
        owner.get(`${path}/logs`)
      ])
      expect(removed.status).toBe(204)
      for (const { status } of others) expect([200, 201, 404]).toContain(status)
      expect((await owner.get(path)).status).toBe(404)
    }
  })

  it("two deletions of one thing are one 204 and one 404, or two of 204", async () => {
    const project = await owner.project()
    for (let round = 0; round < 5; round++) {
      const server = await owner.server(project.id)
      const statuses = statusesOf(await times(2, () => owner.delete(`/v1/servers/${server.id}`)))
      expect([[204, 204], [204, 404]]).toContainEqual(statuses)
    }
  })
})

describe("a slug", () => {
  it("of a deleted server is its account's to use again, and never another's", async () => {
    const other = await berth.signUp("enterprise")
    const [mine, theirs] = [await owner.project(), await other.project()]
    const server = await owner.server(mine.id, { slug: "once-mine" })
    await owner.delete(`/v1/servers/${server.id}`)
    const body = { name: "x", slug: "once-mine" }
    const taken = await other.post(`/v1/projects/${theirs.id}/servers`, body)
    expect([taken.status, taken.body]).toEqual([409, failure("CONFLICT")])
    // Nor by chance, from a name.
    const named = await other.post<{ data: Server }>(`/v1/projects/${theirs.id}/servers`, { name: "Once mine" })
    expect(named.body.data.slug).toMatch(/^once-mine-[a-z0-9]{4}$/)
    expect((await owner.post(`/v1/projects/${mine.id}/servers`, body)).status).toBe(201)
  })

  it("of a deleted project's servers is not another account's either", async () => {
    const other = await berth.signUp("enterprise")
    const [mine, theirs] = [await owner.project(), await other.project()]
    await owner.server(mine.id, { slug: "went-with-all" })
    await owner.delete(`/v1/projects/${mine.id}`)
    const answer = await other.post(`/v1/projects/${theirs.id}/servers`, { name: "x", slug: "went-with-all" })
    expect(answer.status).toBe(409)
  })
})

describe("a list under change", () => {
  it("shows each item once while others come and go", async () => {
    const account = await berth.signUp("enterprise")
    const fixed = await times(10, (n) => account.project(`Fixed ${n}`))
    let stop = false
    const churn = (async () => {
      while (!stop) await account.delete(`/v1/projects/${(await account.project("Passing")).id}`)
    })()
    const seen: Array<string> = []
    let cursor: string | null = null
    do {
      const path: string = `/v1/projects?limit=3${cursor === null ? "" : `&cursor=${cursor}`}`
      const { body } = await account.get<Listed<{ id: string }>>(path)
      seen.push(...body.data.map(({ id }) => id))
      cursor = body.meta.cursor
    } while (cursor !== null)
    stop = true
    await churn
    const found = seen.filter((id) => fixed.some((project) => project.id === id))
    expect(found.length).toBe(10)
    expect(new Set(seen).size).toBe(seen.length)
  })

  it("a server and its project are deleted, without an error", async () => {
    for (let round = 0; round < 10; round++) {
      const { id } = await owner.project(`Both ${round}`)
      const servers = await times(3, () => owner.server(id))
      const answers = await Promise.all([
        ...servers.map((server) => owner.request("DELETE", `/v1/servers/${server.id}`)),
        owner.request("DELETE", `/v1/projects/${id}`)
      ])
      expect(answers.map(({ status }) => status).filter((status) => status !== 204 && status !== 404)).toEqual([])
      expect((await owner.get(`/v1/projects/${id}`)).status).toBe(404)
    }
  })
})
