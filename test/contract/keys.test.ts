import { beforeAll, describe, expect } from "vitest"
import { type Account, allScopes, type Holder, type Key, type Listed, type Project } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { row } from "./row.ts"
import { failure, id, invalid, timestamp } from "./shapes.ts"

const berth = useBerth()
let owner: Account
let home: Project
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  home = await owner.project("Home")
})

const keys = () => `/v1/projects/${home.id}/keys`
const record = (fields: Readonly<Record<string, unknown>>) => ({
  id: id("key"),
  projectId: home.id,
  name: "CI",
  environment: "live",
  keyPrefix: expect.stringMatching(/^svc_(live|test)_\w+$/),
  scopes: ["servers:read"],
  createdAt: timestamp,
  lastUsedAt: null,
  expiresAt: null,
  grantId: null,
  ...fields
})

/** The statuses of one harmless request for each of the platform's reads and changes. */
const statuses = async (holder: Holder, serverId: string) => ({
  readProjects: (await holder.get("/v1/projects")).status,
  readServer: (await holder.get(`/v1/servers/${serverId}`)).status,
  readEnv: (await holder.get(`/v1/servers/${serverId}/env`)).status,
  changeServer: (await holder.patch(`/v1/servers/${serverId}`, { memoryMb: 512 })).status,
  changeEnv: (await holder.put(`/v1/servers/${serverId}/env/A`, { value: "b" })).status === 403 ? 403 : 200,
  changeProject: (await holder.patch(`/v1/projects/${home.id}`, { name: "Home" })).status,
  logs: (await holder.get(`/v1/servers/${serverId}/logs`)).status,
  billing: (await holder.get("/v1/billing")).status
})
const none = {
  readProjects: 403,
  readServer: 403,
  readEnv: 403,
  changeServer: 403,
  changeEnv: 403,
  changeProject: 403,
  logs: 403,
  billing: 403
}

const allowedBy = async (scope: string) => {
  const server = await owner.server(home.id)
  const found = await statuses(await owner.holder(home.id, [scope]), server.id)
  await owner.delete(`/v1/servers/${server.id}`)
  return found
}

describe("API keys", () => {
  row("POST /v1/projects/:id/keys → API key", async () => {
    const body = { name: "CI", scopes: ["servers:read"] }
    const live = await owner.post<{ data: Key }>(keys(), body)
    const key = expect.stringMatching(/^svc_live_[0-9A-Za-z]{36}$/)
    expect([live.status, live.body]).toEqual([201, { data: { key, ...record({}) } }])
    expect(live.body.data.key).toMatch(new RegExp(`^${(live.body.data as unknown as { keyPrefix: string }).keyPrefix}`))
    const test = await owner.post<{ data: Key }>(keys(), { ...body, environment: "test" })
    expect(test.body.data).toMatchObject({ environment: "test", key: expect.stringMatching(/^svc_test_/) })
    const refusals: ReadonlyArray<readonly [object, string]> = [
      [{ scopes: ["servers:read"] }, "name"],
      [{ name: "x" }, "scopes"],
      [{ name: "x", scopes: [] }, "scopes"],
      [{ name: "x", scopes: ["servers:read", "servers:read"] }, "scopes"],
      [{ name: "x", scopes: ["servers:read", "servers:admin"] }, "scopes.1"],
      [{ name: "x", scopes: "servers:read" }, "scopes"],
      [{ name: "x", scopes: ["servers:read"], environment: "dev" }, "environment"],
      [{ name: "x".repeat(256), scopes: ["servers:read"] }, "name"],
      [{ name: "x", scopes: ["servers:read"], expiresAt: "2030-01-01T00:00:00Z" }, "expiresAt"]
    ]
    for (const [sent, path] of refusals) {
      const answer = await owner.post(keys(), sent)
      expect([answer.status, answer.body], JSON.stringify(sent)).toEqual([422, invalid(path)])
    }
  })

  row("GET /v1/projects/:id/keys → list of API keys", async () => {
    const project = await owner.project("Keys")
    const [first, second] = [await owner.key(project.id, ["logs:read"]), await owner.key(project.id)]
    const answer = await owner.get<Listed<Key>>(`/v1/projects/${project.id}/keys`)
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      data: [second, first].map(({ key: _key, ...shown }) => shown),
      meta: { cursor: null, hasMore: false, total: 2 }
    })
    expect(answer.text).not.toContain(first.key)
  })

  row("DELETE /v1/keys/:id deletes the API key", async () => {
    const made = await owner.key(home.id)
    const asKey = { token: made.key }
    expect((await berth.request("GET", "/v1/servers", asKey)).status).toBe(200)
    const answer = await owner.delete(`/v1/keys/${made.id}`)
    expect([answer.status, answer.text]).toEqual([204, ""])
    expect((await berth.request("GET", "/v1/servers", asKey)).status).toBe(401)
    const again = await owner.delete(`/v1/keys/${made.id}`)
    expect([again.status, again.body]).toEqual([404, failure("NOT_FOUND")])
  })

  row("API keys begin with svc_live_ or svc_test_", async () => {
    for (const environment of ["live", "test"]) {
      const { key } = await owner.key(home.id, allScopes, environment)
      expect(key.startsWith(`svc_${environment}_`)).toBe(true)
      expect((await berth.request("GET", "/v1/servers", { token: key })).status).toBe(200)
    }
  })

  row("API keys have the seven scopes of the contract", async () => {
    const all = ["servers:read", "servers:write", "deployments:read", "deployments:write"]
      .concat("logs:read", "metrics:read", "billing:read")
    expect((await owner.key(home.id, all)).scopes).toEqual(all)
    for (const scope of all) expect((await owner.key(home.id, [scope])).scopes).toEqual([scope])
  })
})

describe("scopes", () => {
  row("servers and projects need servers:read to read and servers:write to change", async () => {
    const read = { readProjects: 200, readServer: 200, readEnv: 200, logs: 200 }
    expect(await allowedBy("servers:read")).toEqual({ ...none, ...read })
    expect(await allowedBy("servers:write")).toEqual({
      ...none,
      changeServer: 200,
      changeEnv: 200,
      changeProject: 200
    })
  })

  row("logs need logs:read or servers:read", async () => {
    expect(await allowedBy("logs:read")).toEqual({ ...none, logs: 200 })
    expect((await allowedBy("servers:read")).logs).toBe(200)
  })

  row("billing needs billing:read", async () => {
    expect(await allowedBy("billing:read")).toEqual({ ...none, billing: 200 })
  })

  row("metrics need metrics:read", async () => {
    const path = `/v1/servers/${(await owner.server(home.id)).id}/metrics`
    for (const scope of allScopes) {
      const answer = await (await owner.holder(home.id, [scope])).get(path)
      expect(answer.status, scope).toEqual(scope === "metrics:read" ? 200 : 403)
    }
  })

  row("a key that lacks the scope gets 403", async () => {
    for (const scope of ["deployments:read", "deployments:write", "metrics:read"]) {
      expect(await allowedBy(scope), scope).toEqual(none)
    }
    const key = await owner.holder(home.id, ["billing:read"])
    expect((await key.get("/v1/servers")).body).toEqual(failure("FORBIDDEN", { requiredScopes: ["servers:read"] }))
  })
})
