import { beforeAll, describe, expect } from "vitest"
import { type Account, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { runSql } from "../support/sql.ts"
import { row } from "./row.ts"
import { failure, invalid, variable } from "./shapes.ts"

const berth = useBerth()
let owner: Account
let server: Server
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  server = await owner.server((await owner.project()).id)
})

const env = (name = "") => `/v1/servers/${server.id}/env${name === "" ? "" : `/${name}`}`

const reserved = [
  "AUTO_STOP_SECONDS",
  "HEALTH_CHECK_PATH",
  "HEALTH_CHECK_TIMEOUT_SECONDS",
  "SERVER_SUBDOMAIN",
  "OAUTH_BASE_URL",
  "SVC_MCP_PUBLIC_URL",
  "PLATFORM_MCP_REPLAY_TOKEN"
]

describe("environment variables", () => {
  row("POST /v1/servers/:serverId/env { name, value } → 201 new or 200 updated; body { data: env var }", async () => {
    const made = await owner.post<{ data: object }>(env(), { name: "A_KEY", value: "s3cret-one" })
    expect([made.status, made.body]).toEqual([201, { data: variable({ serverId: server.id, name: "A_KEY" }) }])
    const again = await owner.post<{ data: object }>(env(), { name: "A_KEY", value: "s3cret-two" })
    expect([again.status, again.body]).toEqual([200, {
      data: { ...made.body.data, updatedAt: expect.any(String) }
    }])
    for (const body of [{ name: "X" }, { value: "x" }, { name: "X", value: 1 }, { name: "X", value: null }]) {
      const refused = await owner.post(env(), body)
      expect([refused.status, refused.body]).toEqual([422, invalid("name" in body ? "value" : "name")])
    }
  })

  row("PUT /v1/servers/:serverId/env/:name { value } → 201 new or 200 updated; env var object", async () => {
    const made = await owner.put<{ data: object }>(env("PUT_ME"), { value: "one" })
    expect([made.status, made.body]).toEqual([201, { data: variable({ serverId: server.id, name: "PUT_ME" }) }])
    const again = await owner.put(env("PUT_ME"), { value: "" })
    expect([again.status, again.body]).toEqual([200, { data: { ...made.body.data, updatedAt: expect.any(String) } }])
    expect((await owner.put(env("lower"), { value: "x" })).body).toEqual(invalid("name"))
    expect((await owner.put(env("OTHER"), { name: "NAME", value: "x" })).body).toEqual(invalid("name"))
    expect((await owner.put(env("OTHER"), {})).body).toEqual(invalid("value"))
  })

  row("GET /v1/servers/:serverId/env → 200 { data: [name, ...] } names only", async () => {
    const own = await owner.server(server.projectId)
    const path = `/v1/servers/${own.id}/env`
    expect((await owner.get(path)).body).toEqual({ data: [] })
    for (const name of ["ZED", "ALPHA", "_M1"]) await owner.post(path, { name, value: "hidden" })
    const answer = await owner.get<{ data: ReadonlyArray<string> }>(path)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({ data: expect.any(Array) })
    expect([...answer.body.data].sort()).toEqual(["ALPHA", "ZED", "_M1"])
  })

  row("DELETE /v1/servers/:serverId/env/:name → 204", async () => {
    await owner.post(env(), { name: "GOING", value: "x" })
    const answer = await owner.delete(env("GOING"))
    expect([answer.status, answer.text]).toEqual([204, ""])
    expect((await owner.get<{ data: ReadonlyArray<string> }>(env())).body.data).not.toContain("GOING")
    const again = await owner.delete(env("GOING"))
    expect([again.status, again.body]).toEqual([404, failure("NOT_FOUND")])
  })

  row("an environment variable has id, serverId, name, createdAt, updatedAt and never a value", async () => {
    const secret = "a-value-nobody-sees"
    const { body, text } = await owner.post<{ data: object }>(env(), { name: "SEALED", value: secret })
    expect(Object.keys(body.data).sort()).toEqual(["createdAt", "id", "name", "serverId", "updatedAt"])
    expect(text + (await owner.get(env())).text).not.toContain(secret)
    const rows = await runSql(berth.databaseUrl, "SELECT * FROM environment_variables WHERE name = 'SEALED'")
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(secret)
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(secret).toString("base64").slice(0, 20))
    expect(berth.logged.join("\n")).not.toContain(secret)
  })

  row(
    "environment variable names are upper-case letters, digits and underscores and begin with a letter or underscore",
    async () => {
      for (const name of ["A", "_", "A1", "_0", "LONG_NAME_2", "X".repeat(255)]) {
        const answer = await owner.post(env(), { name, value: "v" })
        expect(answer.status, name).toBe(201)
      }
      for (const name of ["", "a", "Ab", "1A", "A-B", "A B", "A.B", "É", "A=B", "A\n", "X".repeat(256), 7, null]) {
        const answer = await owner.post(env(), { name, value: "v" })
        expect([answer.status, answer.body], String(name)).toEqual([422, invalid("name")])
      }
    }
  )

  row("values of reserved environment names are accepted", async () => {
    for (const name of reserved) {
      const answer = await owner.post(env(), { name, value: "mine" })
      expect([answer.status, answer.body]).toEqual([201, { data: variable({ name }) }])
    }
    expect((await owner.get<{ data: ReadonlyArray<string> }>(env())).body.data).toEqual(
      expect.arrayContaining(reserved)
    )
  })
})
