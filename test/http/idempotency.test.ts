import { randomUUID } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import { beforeAll, describe, expect, it } from "vitest"
import { failure, invalid } from "../contract/shapes.ts"
import { type Account, type Holder, type Key, type Listed, type Project } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type Answer } from "../support/http.ts"
import { holdLock, runSql } from "../support/sql.ts"

const berth = useBerth()
let owner: Account
let project: Project
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  project = await owner.project()
})

const post = <Body = unknown>(holder: Holder, path: string, key: string, body: unknown) =>
  holder.request<Body>("POST", path, { body, headers: { "idempotency-key": key } })
const servers = () => `/v1/projects/${project.id}/servers`
const total = async () => (await owner.get<Listed<unknown>>(`${servers()}?limit=1`)).body.meta.total
const mismatch = invalid("Idempotency-Key")

/** Keeps creations of servers of the account waiting. */
const holdAccount = () =>
  holdLock(berth.databaseUrl, "SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE", [owner.id])
const shown = ({ body, headers, status }: Answer) => ({ body, status, type: headers.get("content-type") })

describe("Idempotency-Key", () => {
  it("gives the same request the first answer again, and does nothing twice", async () => {
    const key = randomUUID()
    const before = await total()
    const first = await post(owner, servers(), key, { name: "Once" })
    const again = await post(owner, servers(), key, { name: "Once" })
    expect(first.status).toBe(201)
    expect(shown(again)).toEqual(shown(first))
    expect(await total()).toBe(before + 1)
    expect(again.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"))
  })

  it("with another body or path is 422", async () => {
    const key = randomUUID()
    await post(owner, servers(), key, { name: "One" })
    const other = await post(owner, servers(), key, { name: "Two" })
    expect([other.status, other.body]).toEqual([422, mismatch])
    const elsewhere = await post(owner, "/v1/projects", key, { name: "One" })
    expect([elsewhere.status, elsewhere.body]).toEqual([422, mismatch])
  })

  it("whose first request still runs is 409, then gets its answer", async () => {
    const key = randomUUID()
    const release = await holdAccount()
    const first = post(owner, servers(), key, { name: "Slow" })
    await setTimeout(200)
    const twin = await post(owner, servers(), key, { name: "Slow" })
    expect([twin.status, twin.body]).toEqual([409, failure("CONFLICT")])
    const other = await post(owner, servers(), key, { name: "Other" })
    expect([other.status, other.body]).toEqual([422, mismatch])
    await release()
    const answer = await first
    expect(answer.status).toBe(201)
    expect(shown(await post(owner, servers(), key, { name: "Slow" }))).toEqual(shown(answer))
  })

  it("whose first request ended with its process runs at once; while that one lives it is 409 with Retry-After", async () => {
    const key = randomUUID()
    const first = await post(owner, servers(), key, { name: "Cut off" })
    expect(first.status).toBe(201)
    const underWay = (session: string) =>
      runSql(
        berth.databaseUrl,
        `UPDATE idempotency_keys SET sealed_response = NULL, locked_until = now() + interval '1 minute',
           host_session = ${session} WHERE key LIKE '%' || $1`,
        [key]
      )
    await underWay("(SELECT session FROM hosts)")
    const early = await post(owner, servers(), key, { name: "Cut off" })
    expect([early.status, early.body, early.headers.get("retry-after")]).toEqual([409, failure("CONFLICT"), "1"])
    await underWay("'a session whose lease is gone'")
    const again = await post(owner, servers(), key, { name: "Cut off" })
    expect(again.status).toBe(201)
    expect(shown(await post(owner, servers(), key, { name: "Cut off" }))).toEqual(shown(again))
  })

  it("is answered although the first caller hung up", async () => {
    const key = randomUUID()
    const release = await holdAccount()
    const hungUp = new AbortController()
    const first = fetch(`${berth.url}${servers()}`, {
      method: "POST",
      body: "{\"name\":\"Hung up\"}",
      headers: { authorization: `Bearer ${owner.token}`, "content-type": "application/json", "idempotency-key": key },
      signal: hungUp.signal
    }).catch((error: Error) => error.name)
    await setTimeout(200)
    hungUp.abort()
    expect(await first).toBe("AbortError")
    await release()
    let again = await post(owner, servers(), key, { name: "Hung up" })
    for (let i = 0; i < 50 && again.status === 409; i++) {
      await setTimeout(50)
      again = await post(owner, servers(), key, { name: "Hung up" })
    }
    expect([again.status, again.body]).toMatchObject([201, { data: { name: "Hung up", slug: "hung-up" } }])
    const rows = await runSql(berth.databaseUrl, "SELECT id FROM servers WHERE name = 'Hung up'")
    expect(rows).toHaveLength(1)
  })

  it("is free again after a failure", async () => {
    const key = randomUUID()
    await owner.server(project.id, { slug: "taken-by-me" })
    const body = { name: "x", slug: "taken-by-me" }
    expect((await post(owner, servers(), key, body)).status).toBe(409)
    expect((await post(owner, servers(), key, {})).status).toBe(422)
    expect((await post(owner, servers(), key, { name: "Now" })).status).toBe(201)
  })

  it("of twins sent at once makes one thing", async () => {
    for (let round = 0; round < 5; round++) {
      const key = randomUUID()
      const before = await total()
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => post<{ data: { id: string } }>(owner, servers(), key, { name: "Twin" }))
      )
      const made = answers.filter(({ status }) => status === 201)
      expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true)
      expect(new Set(made.map(({ body }) => body.data.id)).size).toBe(1)
      expect(await total()).toBe(before + 1)
    }
  })

  it("is each account's own", async () => {
    const key = randomUUID()
    const other = await berth.signUp()
    expect((await post(owner, "/v1/projects", key, { name: "x" })).status).toBe(201)
    expect((await post(other, "/v1/projects", key, { name: "y" })).body).toMatchObject({ data: { name: "y" } })
  })

  it("repeats a secret that is shown once, and keeps it sealed", async () => {
    const key = randomUUID()
    const path = `/v1/projects/${project.id}/keys`
    const body = { name: "x", scopes: ["servers:read"] }
    const first = await post<{ data: Key }>(owner, path, key, body)
    const again = await post<{ data: Key }>(owner, path, key, body)
    expect(again.body).toEqual(first.body)
    const rows = await runSql(berth.databaseUrl, "SELECT * FROM idempotency_keys WHERE key LIKE '%' || $1", [key])
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(first.body.data.key)
  })

  it("never hands an answer to a credential that could not have asked for it", async () => {
    const key = randomUUID()
    const path = `/v1/projects/${project.id}/keys`
    const body = { name: "x", scopes: ["servers:read"] }
    const made = await post<{ data: Key }>(owner, path, key, body)
    for (const scopes of [["servers:read"], ["servers:read", "servers:write", "billing:read"]]) {
      const answer = await post(await owner.holder(project.id, scopes), path, key, body)
      expect(answer.status).toBe(401)
      expect(answer.text).not.toContain(made.body.data.key)
    }
    const other = await owner.project("Other")
    const server = await post<{ data: { id: string } }>(owner, servers(), `${key}-2`, { name: "Mine" })
    const foreign = await post(await owner.holder(other.id), servers(), `${key}-2`, { name: "Mine" })
    expect([foreign.status, foreign.text.includes(server.body.data.id)]).toEqual([404, false])
    const reader = await post(await owner.holder(project.id, ["servers:read"]), servers(), `${key}-2`, { name: "Mine" })
    expect([reader.status, reader.text.includes(server.body.data.id)]).toEqual([403, false])
  })

  it("is known to all sessions of a user", async () => {
    const key = randomUUID()
    const first = await post(owner, "/v1/projects", key, { name: "x" })
    const session = await berth.request<{ data: { token: string } }>("POST", "/v1/auth/login", {
      body: { email: owner.email, password: owner.password }
    })
    const again = await berth.request("POST", "/v1/projects", {
      token: session.body.data.token,
      body: { name: "x" },
      headers: { "idempotency-key": key }
    })
    expect(shown(again)).toEqual(shown(first))
  })

  it("is forgotten after 24 hours", async () => {
    const key = randomUUID()
    const first = await post<{ data: { id: string } }>(owner, "/v1/projects", key, { name: "x" })
    await runSql(
      berth.databaseUrl,
      "UPDATE idempotency_keys SET created_at = now() - interval '24 hours 1 second' WHERE key LIKE '%' || $1",
      [key]
    )
    const later = await post<{ data: { id: string } }>(owner, "/v1/projects", key, { name: "y" })
    expect(later.status).toBe(201)
    expect(later.body.data.id).not.toBe(first.body.data.id)
  })

  it("that is no such key is 422", async () => {
    for (const key of ["", " ", "a b", "x".repeat(256), "é"]) {
      const answer = await post(owner, "/v1/projects", key, { name: "x" })
      expect([answer.status, answer.body], key).toEqual([422, mismatch])
    }
    expect((await post(owner, "/v1/projects", "x".repeat(255), { name: "x" })).status).toBe(201)
  })

  it("counts for POST alone, and for callers we know", async () => {
    const key = randomUUID()
    const headers = { "idempotency-key": key }
    for (const name of ["One", "Two"]) {
      const answer = await owner.request("PATCH", `/v1/projects/${project.id}`, { body: { name }, headers })
      expect(answer.body).toMatchObject({ data: { name } })
    }
    for (let i = 0; i < 2; i++) {
      const body = { email: `${randomUUID()}@example.com`, password: "long enough" }
      expect((await berth.request("POST", "/v1/auth/signup", { body, headers })).status).toBe(201)
    }
  })
})
