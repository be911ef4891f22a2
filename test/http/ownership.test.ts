import { type Client } from "@modelcontextprotocol/sdk/client/index.js"
import { beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { twins } from "../mcp/twins.ts"
import { type Account, allScopes, Holder } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { bodyFor } from "../support/bodies.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { sampled } from "../support/needs.ts"
import { fill, openApi, type Operation, operationsOf, speaksLowerCase } from "../support/operations.ts"
import { type Ids, things, thingsInTurn } from "../support/things.ts"

const berth = useBerth()
let operations: ReadonlyArray<Operation> = []
let owner: Account
let stranger: Account

/** One of these is needed of a key; undefined: the operation is for sessions. */
const scopeOf = ({ method, name, path }: Operation): ReadonlyArray<string> | undefined => {
  if (path.endsWith("/config")) return ["servers:read"]
  if (name === "GET /v1/billing/plan") return ["billing:read"]
  if (path.endsWith("/transactions")) return ["servers:write"]
  if (
    /\/keys|\/registries|\/hub\/|\/auth\/|\/clients$|^\/v1\/billing\/(subscribe|plan)|^\/api\/v1\/ready|^\/v1\/directory/
      .test(
        path
      ) || name === "POST /v1/projects"
  ) {
    return undefined
  }
  if (path.startsWith("/v1/billing")) return ["billing:read"]
  if (/\/(deploy|rollback|cancel)$/.test(path)) return ["deployments:write"]
  if (/\/deployments/.test(path)) return ["deployments:read"]
  if (/\/images/.test(path)) return [method === "GET" ? "deployments:read" : "deployments:write"]
  if (/\/metrics(\/|$)/.test(path)) return ["metrics:read"]
  if (/\/logs$/.test(path)) return ["logs:read", "servers:read"]
  return method === "GET" ? ["servers:read"] : ["servers:write"]
}

/** In the operation's own vocabulary: the business side speaks lower-case codes. */
const codeFor = (name: string, code: string) => speaksLowerCase(name.split(" ")[1] ?? "") ? code.toLowerCase() : code
/** Only a Builder promotes, whoever's the composite is (contract: Hub authentication). */
const promotion = "POST /v1/hub/composites/{compositeId}/promote"
const refusal = ({ name }: Operation, code: string, details?: Readonly<Record<string, unknown>>) =>
  failure(
    codeFor(name, code),
    details ?? (name === promotion && code === "FORBIDDEN" ? { requiredTier: "builder" } : details)
  )

/** Contract, "Hub error codes by endpoint": a listing is public, so that it is another's is no secret. */
const tellsOfOthers = (name: string) =>
  /^GET \/api\/v1\/hub\/analytics\/|\/(transactions|capability-doc)$/.test(name) || name === promotion
const unseen = (name: string): readonly [404, "NOT_FOUND"] | readonly [403, "FORBIDDEN"] =>
  tellsOfOthers(name) ? [403, "FORBIDDEN"] : [404, "NOT_FOUND"]

const isPublic = ({ needsCredential }: Operation) => !needsCredential
const ofThings = (operation: Operation) => operation.parameters.length > 0 && !isPublic(operation)
const send = (holder: Pick<Holder, "request">, operation: Operation, ids: Ids) =>
  holder.request(operation.method, fill(operation, ids), {
    ...(operation.bodyFields === undefined ? {} : { body: bodyFor(operation.name, ids) })
  })

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  stranger = await berth.signUp("enterprise")
  operations = operationsOf(await openApi(berth)).filter(({ name }) => name !== "POST /v1/auth/logout")
})

describe("who may do what, for every operation", () => {
  it("nobody without a credential: 401, before anything else is looked at", async () => {
    const ids = await things(owner)
    const closed = operations.filter((operation) => !isPublic(operation))
    expect(closed.length).toBeGreaterThan(20)
    for (const operation of closed) {
      const unsaid = await send(berth, operation, ids)
      expect([unsaid.status, unsaid.body], operation.name).toEqual([401, refusal(operation, "UNAUTHORIZED")])
      const wrong = await send(new Holder(berth, "svc_sess_wrong"), operation, ids)
      expect([wrong.status, wrong.body], operation.name).toEqual([401, refusal(operation, "UNAUTHORIZED")])
    }
    const open = operations.filter(isPublic).map(({ name }) => name).sort()
    expect(open).toEqual([
      "GET /.well-known/mcp-server-metadata",
      "GET /.well-known/mcp-skills",
      "GET /api/v1/hub/listings/{listingId}/capability-doc",
      "GET /api/v1/hub/listings/{listingId}/capability-doc/content",
      "GET /api/v1/hub/listings/{listingId}/referral",
      "GET /api/v1/hub/listings/{listingId}/skill.md",
      "GET /v0.1/servers",
      "GET /v0.1/servers/{serverName}/versions",
      "GET /v0.1/servers/{serverName}/versions/{version}",
      "GET /v1/directory",
      "GET /v1/directory/facets",
      "GET /v1/directory/{listingId}",
      "GET /v1/feeds/businesses",
      "GET /v1/health",
      "GET /v1/plans",
      "POST /v1/auth/login",
      "POST /v1/auth/signup"
    ])
  })

  it("not a key where a session is asked for: 401, before the body is looked at", async () => {
    const ids = await things(owner)
    const key = await owner.holder(ids["projectId"] ?? "")
    const forSessions = operations.filter((operation) =>
      !isPublic(operation) && scopeOf(operation) === undefined && operation.bodyFields !== undefined &&
      operation.name !== "POST /v1/projects"
    )
    expect(forSessions.length).toBeGreaterThan(15)
    for (const operation of forSessions) {
      const answer = await key.request(operation.method, fill(operation, ids), { body: { surprise: true } })
      expect([answer.status, answer.body], operation.name).toEqual([401, refusal(operation, "UNAUTHORIZED")])
    }
  })

  it("not another tenant, by session or key: 404, and nothing has changed", async () => {
    const ids = await things(owner)
    const theirs = await stranger.project()
    const holders = [stranger, await stranger.holder(theirs.id)]
    for (const operation of sampled(operations.filter(ofThings), 6)) {
      for (const [at, holder] of holders.entries()) {
        const answer = await send(holder, operation, ids)
        const sessionOnly = at === 1 && scopeOf(operation) === undefined
        const [status, code] = sessionOnly ? [401, "UNAUTHORIZED"] as const : unseen(operation.name)
        expect([operation.name, at, answer.status, answer.body])
          .toEqual([operation.name, at, status, refusal(operation, code)])
      }
    }
    expect((await owner.get(`/v1/servers/${ids["serverId"]}`)).status).toBe(200)
    expect((await owner.get(`/v1/servers/${ids["serverId"]}/env`)).body).toEqual({ data: ["A"] })
    expect((await owner.get(`/v1/projects/${ids["projectId"]}/keys`)).body).toMatchObject({ meta: { total: 1 } })
  })

  it("not a key of another project of the same account: 404, and nothing has changed", async () => {
    const ids = await things(owner)
    const beside = await owner.holder((await owner.project("Beside")).id)
    for (const operation of sampled(operations.filter(ofThings), 6, 1)) {
      const answer = await send(beside, operation, ids)
      expect([operation.name, answer.status, answer.body]).toEqual(
        scopeOf(operation) === undefined
          ? [operation.name, 401, refusal(operation, "UNAUTHORIZED")]
          : [operation.name, unseen(operation.name)[0], refusal(operation, unseen(operation.name)[1])]
      )
    }
    expect((await beside.get("/v1/servers")).body).toMatchObject({ data: [], meta: { total: 0 } })
    expect((await beside.get("/v1/projects")).body).toMatchObject({ data: [{ name: "Beside" }], meta: { total: 1 } })
  })

  it("not a key without the scope: 403 that names it, and nothing has changed", async () => {
    const ids = await things(owner)
    for (const operation of sampled(operations.filter((operation) => !isPublic(operation)), 6, 2)) {
      const needed = scopeOf(operation)
      if (needed === undefined) continue
      const rest = allScopes.filter((scope) => !needed.includes(scope))
      const answer = await send(await owner.holder(ids["projectId"] ?? "", rest), operation, ids)
      expect([answer.status, answer.body], operation.name).toEqual([
        403,
        refusal(operation, "FORBIDDEN", { requiredScopes: needed })
      ])
    }
    expect((await owner.get(`/v1/servers/${ids["serverId"]}`)).status).toBe(200)
  })

  it("a key with one of the scopes it needs, in its own project", async () => {
    const next = thingsInTurn(owner)
    for (const operation of sampled(operations.filter((operation) => !isPublic(operation)), 8)) {
      for (const scope of scopeOf(operation) ?? []) {
        const ids = await next(operation)
        const { status } = await send(await owner.holder(ids["projectId"] ?? "", [scope]), operation, ids)
        // What is not deployed can't be started; that is no question of who asks.
        expect([401, 403].includes(status), `${operation.name} ${scope}`).toBe(false)
      }
    }
  }, 60_000)
})

describe("who may call what, for every tool", () => {
  const argumentsOf = (name: string, ids: Ids) => {
    const operation = operations.find((candidate) => candidate.name === name)
    const inPath = Object.fromEntries((operation?.parameters ?? []).map((parameter) => [parameter, ids[parameter]]))
    return { ...bodyFor(name, ids), ...inPath }
  }
  const codeOf = async (client: Client, name: string, ids: Ids) => {
    const result = await callTool(client, twins[name] ?? "", argumentsOf(name, ids))
    return result.isError === true ? (textOf(result) as { error: { code: string } }).error.code : "done"
  }
  const byName = (name: string) => operations.find((operation) => operation.name === name)!

  it("not another tenant, nor a key of another project: NOT_FOUND", async () => {
    const ids = await things(owner)
    const key = await owner.key((await owner.project("Beside")).id)
    const clients = [
      await connectMcp(berth.url, { token: stranger.token }),
      await connectMcp(berth.url, { token: key.key })
    ]
    for (const name of sampled(Object.keys(twins).filter((name) => ofThings(byName(name))), 4)) {
      for (const [at, client] of clients.entries()) {
        const sessionOnly = at === 1 && scopeOf(byName(name)) === undefined
        expect(await codeOf(client, name, ids), `${name} ${at}`).toEqual(
          codeFor(name, sessionOnly ? "UNAUTHORIZED" : unseen(name)[1])
        )
      }
    }
    await Promise.all(clients.map((client) => client.close()))
    expect((await owner.get(`/v1/servers/${ids["serverId"]}/env`)).body).toEqual({ data: ["A"] })
  })

  it("not a key without the scope: FORBIDDEN, though the tool was not listed", async () => {
    const ids = await things(owner)
    // Who one is may be asked with any credential.
    const asked = Object.keys(twins).filter((name) => !isPublic(byName(name)) && name !== "GET /v1/auth/me")
    const clients = new Map<string, Client>()
    const clientWithout = async (needed: ReadonlyArray<string>) => {
      const known = clients.get(needed.join())
      if (known !== undefined) return known
      const { key } = await owner.key(ids["projectId"] ?? "", allScopes.filter((scope) => !needed.includes(scope)))
      const made = await connectMcp(berth.url, { token: key })
      clients.set(needed.join(), made)
      return made
    }
    for (const name of sampled(asked, 8)) {
      const needed = scopeOf(byName(name))
      const client = await clientWithout(needed ?? [])
      const sessionOnly = needed === undefined && name !== "POST /v1/projects"
      expect(await codeOf(client, name, ids), name).toEqual(codeFor(name, sessionOnly ? "UNAUTHORIZED" : "FORBIDDEN"))
    }
    await Promise.all([...clients.values()].map((client) => client.close()))
  }, 60_000)
})
