import { beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account, type Key, type Project } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { type FailureBody, sendRaw } from "../support/http.ts"
import { runSql } from "../support/sql.ts"

const berth = useBerth()
let owner: Account
let project: Project
let key: Key

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  project = await owner.project()
  key = await owner.key(project.id)
})

const status = async (token: string, path = "/v1/servers") => (await berth.request("GET", path, { token })).status

describe("an API key", () => {
  it("with a typo anywhere is 401", async () => {
    for (let at = 0; at < key.key.length; at++) {
      const typo = key.key.slice(0, at) + (key.key[at] === "a" ? "b" : "a") + key.key.slice(at + 1)
      expect(await status(typo), String(at)).toBe(401)
    }
    for (const near of [key.key.slice(0, -1), `${key.key}a`, key.key.replace("live", "test"), key.key.toUpperCase()]) {
      expect(await status(near)).toBe(401)
    }
    expect(await status(key.key)).toBe(200)
  })

  it("that was deleted is 401 from the next request on", async () => {
    const gone = await owner.key(project.id)
    expect(await status(gone.key)).toBe(200)
    await owner.delete(`/v1/keys/${gone.id}`)
    expect(await status(gone.key)).toBe(401)
  })

  it("that has expired is 401", async () => {
    const old = await owner.key(project.id)
    const expire = "UPDATE api_keys SET expires_at = now() + $2::interval WHERE id = $1"
    await runSql(berth.databaseUrl, expire, [old.id, "1 hour"])
    expect(await status(old.key)).toBe(200)
    await runSql(berth.databaseUrl, expire, [old.id, "-1 second"])
    expect(await status(old.key)).toBe(401)
  })

  it("is stored as a digest only, and never logged", async () => {
    const rows = JSON.stringify(await runSql(berth.databaseUrl, "SELECT * FROM api_keys"))
    const sessions = JSON.stringify(await runSql(berth.databaseUrl, "SELECT * FROM sessions"))
    expect(rows).not.toContain(key.key)
    expect(sessions).not.toContain(owner.token)
    expect(berth.logged.join("\n")).not.toContain(key.key)
    expect(berth.logged.join("\n")).not.toContain(owner.token)
  })

  it("may not do what is for sessions only: 401, and 403 for a new project", async () => {
    const holder = await owner.holder(project.id)
    const sessionOnly: ReadonlyArray<readonly [string, string, unknown]> = [
      ["GET", `/v1/projects/${project.id}/keys`, undefined],
      ["POST", `/v1/projects/${project.id}/keys`, { name: "x", scopes: ["servers:read"] }],
      ["DELETE", `/v1/keys/${key.id}`, undefined],
      ["POST", "/v1/auth/logout", undefined]
    ]
    for (const [method, path, body] of sessionOnly) {
      const answer = await holder.request<FailureBody>(method, path, { body })
      expect([answer.status, answer.body], `${method} ${path}`).toEqual([401, failure("UNAUTHORIZED")])
      expect(answer.body.error.message).toBe("This operation needs a session, not an API key")
      const nobody = await berth.request<FailureBody>(method, path, { body })
      expect([nobody.status, nobody.body.error.message])
        .toEqual([401, expect.stringMatching(/^Send a session token \(.*\) as Bearer$/)])
    }
    const answer = await holder.post("/v1/projects", { name: "x" })
    expect([answer.status, answer.body]).toEqual([403, failure("FORBIDDEN")])
    expect(await status(key.key)).toBe(200)
  })

  it("says who it is, and when it was last used, to the minute", async () => {
    const fresh = await owner.key(project.id, ["logs:read"], "test")
    expect((await berth.request("GET", "/v1/auth/me", { token: fresh.key })).body).toMatchObject({
      data: {
        user: { id: owner.id, email: owner.email },
        plan: "enterprise",
        credential: { type: "key", id: fresh.id, projectId: project.id, environment: "test", scopes: ["logs:read"] }
      }
    })
    const listed = await owner.get<{ data: ReadonlyArray<{ id: string; lastUsedAt: string | null }> }>(
      `/v1/projects/${project.id}/keys`
    )
    const usedAt = listed.body.data.find(({ id }) => id === fresh.id)?.lastUsedAt ?? ""
    expect(Math.abs(Date.parse(usedAt) - Date.now())).toBeLessThan(60_000)
  })

  it("of a project has at most a hundred beside it, however many are made at once", async () => {
    const crowded = await owner.project("Crowded")
    await runSql(
      berth.databaseUrl,
      `INSERT INTO api_keys (id, project_id, name, environment, key_hash, key_prefix, scopes)
       SELECT 'key_01J00000000000000000000' || lpad(n::text, 3, '0'), $1, 'x', 'live', sha256(n::text::bytea), 'x', '{}'
       FROM generate_series(1, 95) AS n`,
      [crowded.id]
    )
    const body = { name: "x", scopes: ["servers:read"] }
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => owner.post(`/v1/projects/${crowded.id}/keys`, body))
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([...Array(5).fill(201), ...Array(5).fill(409)])
  })
})

describe("an Authorization header", () => {
  it("given twice is 401, whichever of the two is good", async () => {
    for (const pair of [[key.key, "x"], ["x", key.key], [key.key, owner.token]]) {
      const lines = pair.map((token) => `Authorization: Bearer ${token}\r\n`).join("")
      const answer = await sendRaw(
        berth.url,
        `GET /v1/servers HTTP/1.1\r\nHost: x\r\n${lines}X-Forwarded-For: 198.51.100.7\r\nConnection: close\r\n\r\n`
      )
      expect(answer).toMatch(/^HTTP\/1\.1 401 /)
    }
  })

  it("wins over a cookie, good or bad", async () => {
    const cookie = `svc_session=${owner.token}`
    const bad = await berth.request("GET", "/v1/servers", { token: "svc_live_x", headers: { cookie } })
    expect(bad.status).toBe(401)
    const good = await berth.request("GET", "/v1/auth/me", { token: key.key, headers: { cookie } })
    expect(good.body).toMatchObject({ data: { credential: { type: "key" } } })
  })

  it("is asked for before a body is looked at", async () => {
    const answer = await berth.request("POST", "/v1/projects", { body: { wrong: 1 } })
    expect(answer.status).toBe(401)
  })
})
