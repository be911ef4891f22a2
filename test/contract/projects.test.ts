import { beforeAll, describe, expect } from "vitest"
import { type Account, type Listed, type Project } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { row } from "./row.ts"
import { failure, project, server } from "./shapes.ts"

const berth = useBerth()
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp("pro")
})

describe("projects", () => {
  row("POST /v1/projects { name } → 201 { data: project }", async () => {
    const answer = await owner.post("/v1/projects", { name: "Blue Door Café" })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({ data: project({ name: "Blue Door Café", slug: "blue-door-cafe" }) })
  })

  row("GET /v1/projects → 200 list of projects", async () => {
    const other = await berth.signUp()
    const first = await other.project("First")
    const second = await other.project("Second")
    const answer = await other.get("/v1/projects")
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ data: [second, first], meta: { cursor: null, hasMore: false, total: 2 } })
  })

  row("GET /v1/projects/:projectId → 200 project", async () => {
    const made = await owner.project("Read me")
    const answer = await owner.get(`/v1/projects/${made.id}`)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ data: made })
  })

  row("PATCH /v1/projects/:projectId { name } → 200 project", async () => {
    const made = await owner.project("Before")
    const answer = await owner.patch<{ data: { updatedAt: string } }>(`/v1/projects/${made.id}`, { name: "After" })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ data: project({ ...made, name: "After", updatedAt: answer.body.data.updatedAt }) })
    expect((await owner.get(`/v1/projects/${made.id}`)).body).toEqual(answer.body)
  })

  row(
    "DELETE /v1/projects/:projectId → 204; deletes all servers, deployments and API keys of the project",
    async () => {
      const made = await owner.project("Doomed")
      const kept = await owner.project("Kept")
      const [doomed, safe] = [await owner.server(made.id), await owner.server(kept.id)]
      await owner.post(`/v1/servers/${doomed.id}/env`, { name: "A", value: "b" })
      const [key, other] = [await owner.holder(made.id), await owner.holder(kept.id)]
      const answer = await owner.delete(`/v1/projects/${made.id}`)
      expect(answer.status).toBe(204)
      expect(answer.text).toBe("")
      for (const path of [`/v1/projects/${made.id}`, `/v1/servers/${doomed.id}`, `/v1/servers/${doomed.id}/env`]) {
        const gone = await owner.get(path)
        expect([gone.status, gone.body]).toEqual([404, failure("NOT_FOUND")])
      }
      expect((await key.get("/v1/servers")).status).toBe(401)
      expect((await other.get<Listed<unknown>>("/v1/servers")).body.data).toEqual([server({ id: safe.id })])
      expect((await owner.delete(`/v1/projects/${made.id}`)).status).toBe(404)
    }
  )

  row("a project has id, name, slug, createdAt, updatedAt", async () => {
    const made = await owner.project()
    expect(Object.keys(made).sort()).toEqual(["createdAt", "id", "name", "slug", "updatedAt"])
  })

  row("a project's slug is derived from its name", async () => {
    const slugs: ReadonlyArray<readonly [string, unknown]> = [
      ["Zoë's  Bar & Grill", "zoe-s-bar-grill"],
      ["UPPER", "upper"],
      ["日本語", "ribenyu"],
      ["-- a --", "a"],
      // The same again, in one account, gets another.
      ["UPPER", expect.stringMatching(/^upper-[a-z0-9]{4}$/)]
    ]
    for (const [name, slug] of slugs) expect(await owner.project(name)).toEqual(project({ name, slug }))
    const other = await berth.signUp()
    expect(await other.project("UPPER")).toEqual(project({ name: "UPPER", slug: "upper" }))
  })

  row("limit is an integer from 1 to 100, default 20", async () => {
    const many = await berth.signUp("enterprise")
    for (let i = 0; i < 21; i++) await many.project(`P${i}`)
    const lengths: ReadonlyArray<readonly [string, number]> = [["", 20], ["?limit=1", 1], ["?limit=20", 20], [
      "?limit=100",
      21
    ]]
    for (const [query, length] of lengths) {
      const answer = await many.get<Listed<Project>>(`/v1/projects${query}`)
      expect([answer.status, answer.body.data.length], query).toEqual([200, length])
    }
    for (const limit of ["0", "-1", "101", "1.5", "1e2x", "abc", "", "NaN", "Infinity", "9".repeat(400)]) {
      const answer = await many.get(`/v1/projects?limit=${limit}`)
      expect([answer.status, answer.body], limit).toEqual([
        400,
        failure("BAD_REQUEST", { issues: [{ path: "limit", message: expect.any(String) }] })
      ])
    }
  })

  row("cursor is opaque; the meta of a list is { cursor, hasMore, total }", async () => {
    const many = await berth.signUp()
    const made: Array<string> = []
    for (let i = 0; i < 5; i++) made.unshift((await many.project(`P${i}`)).id)
    const seen: Array<string> = []
    let cursor: string | null = null
    for (const left of [2, 2, 1]) {
      const query: string = cursor === null ? "?limit=2" : `?limit=2&cursor=${encodeURIComponent(cursor)}`
      const { body } = await many.get<Listed<Project>>(`/v1/projects${query}`)
      seen.push(...body.data.map(({ id }) => id))
      cursor = body.meta.cursor
      expect(body.data.length).toBe(left)
      expect(body.meta).toEqual({ cursor: left === 2 ? expect.any(String) : null, hasMore: left === 2, total: 5 })
    }
    expect(seen).toEqual(made)
  })

  row("meta appears only on list endpoints", async () => {
    const made = await owner.project()
    const hosted = await owner.server(made.id)
    for (const path of [`projects/${made.id}`, `servers/${hosted.id}`, `servers/${hosted.id}/env`, "billing"]) {
      expect(Object.keys((await owner.get<object>(`/v1/${path}`)).body)).toEqual(["data"])
    }
    for (const path of ["projects", "servers", `projects/${made.id}/servers`, `projects/${made.id}/keys`]) {
      expect(Object.keys((await owner.get<object>(`/v1/${path}`)).body)).toEqual(["data", "meta"])
    }
  })
})
