import { Effect, Exit, Scope } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { docOf, listed, sendDoc, skillMd } from "../support/documents.ts"
import { freshAddress } from "../support/http.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { describeWhen, missingProgram } from "../support/needs.ts"
import { freePort, redisServer } from "../support/redis.ts"
import { runSql } from "../support/sql.ts"
import { row } from "./row.ts"
import { failure, invalid, timestamp, ulid } from "./shapes.ts"

const berth = useBerth()
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp()
})

const path = "/api/v1/hub/api-keys"
interface Meta {
  readonly id: string
  readonly tier: string
  readonly dailyRequestCount: number
  readonly lastRequestAt: string | null
}
interface Created {
  readonly data: { readonly key: string; readonly meta: Meta }
}
const make = async (account = owner, body: object = {}) =>
  dataOf(await account.request<Created>("POST", path, { body }))
const list = async (account = owner) => dataOf(await account.get<{ readonly data: ReadonlyArray<Meta> }>(path))
const metaOf = async (id: string) => (await list()).find((meta) => meta.id === id)
const read = (key: string) => berth.request("GET", "/v1/directory", { token: key })
const meta = (fields: object = {}) => ({
  id: ulid,
  userId: ulid,
  keyPrefix: expect.stringMatching(/^hub_live_\w{7}$/) as string,
  tier: "explorer",
  dailyRequestCount: 0,
  lastRequestAt: null,
  createdAt: timestamp,
  revokedAt: null,
  ...fields
})
const day = 86_400_000
const toMidnight = () => day - berth.now() % day

describe("hub keys", () => {
  row("POST /api/v1/hub/api-keys → 201 { data: { key, meta } }", async () => {
    for (const tier of ["explorer", "builder", "partner"]) {
      const answer = await owner.request<Created>("POST", path, { body: { tier } })
      expect([answer.status, answer.body]).toEqual([201, { data: { key: expect.any(String), meta: meta({ tier }) } }])
    }
    expect((await make()).meta.tier).toBe("explorer")
    for (const sent of [{}, { body: "" }, { headers: { "transfer-encoding": "chunked" } }]) {
      for (const to of [path, "/api/v1/hub/keys"]) {
        const { body, status } = await owner.request<Created>("POST", to, sent)
        expect([status, body.data?.meta.tier], JSON.stringify(sent)).toEqual([201, "explorer"])
      }
    }
  })

  row("hub key: key of the shape hub_live_<random>, shown once, and meta with the contract's fields", async () => {
    const { key, meta: made } = await make()
    expect([key, made]).toEqual([
      expect.stringMatching(/^hub_live_[0-9A-Za-z]{36}$/),
      meta({ keyPrefix: key.slice(0, 16) })
    ])
    expect((await owner.get(path)).text).not.toContain(key)
    const stored = await runSql(berth.databaseUrl, "SELECT row_to_json(k)::text AS row FROM hub_keys k", [])
    expect(JSON.stringify(stored)).not.toContain(key.slice(16))
  })

  row("GET /api/v1/hub/api-keys → 200 { data: [meta, ...] }", async () => {
    const account = await berth.signUp()
    expect((await account.get(path)).body).toEqual({ data: [] })
    const { meta: made } = await make(account)
    expect((await account.get(path)).body).toEqual({ data: [made] })
  })

  row("hub key list: active keys only, oldest first, at most 100", async () => {
    const account = await berth.signUp()
    const made = await Promise.all(
      Array.from(
        { length: 103 },
        () => account.request<Created>("POST", path, { body: {}, headers: { "x-forwarded-for": freshAddress() } })
      )
    )
    expect(made.map(({ status }) => status).sort().slice(98)).toEqual([201, 201, 409, 409, 409])
    const ids = (await list(account)).map(({ id }) => id)
    expect([ids.length, ids]).toEqual([100, [...ids].sort()])
    expect((await account.delete(`${path}/${ids[40]}`)).status).toBe(204)
    expect((await list(account)).map(({ id }) => id)).toEqual(ids.filter((_, at) => at !== 40))
    const headers = { "x-forwarded-for": freshAddress() }
    expect((await account.request("POST", path, { body: {}, headers })).status).toBe(201)
  })

  row("DELETE /api/v1/hub/api-keys/:id → 204", async () => {
    const { meta: { id } } = await make()
    const answer = await owner.delete(`${path}/${id}`)
    expect([answer.status, answer.text]).toEqual([204, ""])
  })

  row("revoke hub key: 404 not_found, missing or not owned; 409 conflict, already revoked", async () => {
    const { meta: { id } } = await make()
    const other = await berth.signUp()
    for (const [account, of] of [[other, id], [owner, "01J00000000000000000000000"], [owner, "x"]] as const) {
      const answer = await account.delete(`${path}/${of}`)
      expect([answer.status, answer.body]).toEqual([404, failure("not_found")])
    }
    const both = await Promise.all([owner.delete(`${path}/${id}`), owner.delete(`${path}/${id}`)])
    expect(both.map(({ status }) => status).sort()).toEqual([204, 409])
    const again = await owner.delete(`${path}/${id}`)
    expect([again.status, again.body]).toEqual([409, failure("conflict")])
  })

  row("create hub key: 422 validation_error, tier not in the three tiers", async () => {
    for (const tier of ["gold", "", null, 3, "Explorer"]) {
      const answer = await owner.request("POST", path, { body: { tier } })
      expect([answer.status, answer.body], String(tier)).toEqual([422, {
        error: { ...invalid("tier").error, code: "validation_error" }
      }])
    }
  })

  row("hub: 401 unauthorized, missing or invalid session token", async () => {
    const { key, meta: { id } } = await make()
    for (const token of [undefined, "svc_sess_x", key, `${owner.token}x`]) {
      for (const [method, to] of [["POST", path], ["GET", path], ["DELETE", `${path}/${id}`]] as const) {
        const answer = await berth.request(method, to, { token, ...(method === "POST" ? { body: {} } : {}) })
        expect([answer.status, answer.body], `${method} ${String(token)}`).toEqual([401, failure("unauthorized")])
        if (token === key) expect(answer.text).toContain("Hub keys are for reads of the hub; send a session token")
      }
    }
  })

  row("a revoked hub key gets 401, for good", async () => {
    const { key, meta: { id } } = await make()
    expect((await read(key)).status).toBe(200)
    await owner.delete(`${path}/${id}`)
    for (const token of [key, `${key.slice(0, -1)}x`, "hub_live_x"]) {
      const answer = await read(token)
      expect([answer.status, answer.body]).toEqual([401, failure("unauthorized")])
    }
  })

  row("hub key limits: explorer 100, builder 10,000, partner 100,000 requests per day, from midnight UTC", async () => {
    for (const [tier, limit] of [["builder", 10_000], ["partner", 100_000]] as const) {
      const { headers } = await read((await make(owner, { tier })).key)
      expect([headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]).toEqual([
        `${limit}`,
        `${limit - 1}`
      ])
    }
    const { key, meta: { id } } = await make()
    await berth.request("GET", "/v1/directory", { headers: { "x-api-key": key } })
    expect(await metaOf(id)).toMatchObject({ dailyRequestCount: 1, lastRequestAt: timestamp })
    // Fifty clients at once, around midnight: each day has its hundred, none counts for both.
    const answers = await Promise.all(Array.from({ length: 120 }, () => read(key)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(99)
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.body).toEqual(failure("quota_exceeded", { limit: 100, tier: "explorer" }))
    const retryAfter = Number(refused?.headers.get("retry-after"))
    expect(Math.abs(retryAfter * 1000 - toMidnight())).toBeLessThan(10_000)
    expect((await metaOf(id))?.dailyRequestCount).toBe(100)
    berth.advance(toMidnight() + 1000)
    expect((await metaOf(id))?.dailyRequestCount).toBe(0)
    const next = await Promise.all(Array.from({ length: 120 }, () => read(key)))
    expect(next.filter(({ status }) => status === 200)).toHaveLength(100)
  })

  it("admits exactly a day's requests of each day to fifty clients that go on over midnight", async () => {
    const { key, meta: { id } } = await make()
    const admitted = new Map<string, number>()
    let refused = 0
    const client = async () => {
      for (let sent = 0; sent < 8; sent++) {
        const { headers, status } = await read(key)
        // Of which day a request is, its limit says.
        const reset = headers.get("x-ratelimit-reset") ?? ""
        if (status === 200) admitted.set(reset, (admitted.get(reset) ?? 0) + 1)
        else refused++
        // The clock strikes while requests of all clients are on their way, and before the first day is spent.
        if (status === 200 && admitted.size === 1 && admitted.get(reset) === 60) berth.advance(toMidnight())
      }
    }
    await Promise.all(Array.from({ length: 50 }, client))
    const [first = 0, second] = [...admitted.entries()].sort().map(([, count]) => count)
    expect(first).toBeGreaterThanOrEqual(60)
    expect(first).toBeLessThanOrEqual(100)
    expect([second, first + 100 + refused]).toEqual([100, 400])
    expect((await metaOf(id))?.dailyRequestCount).toBe(100)
    berth.advance(toMidnight())
    expect((await metaOf(id))?.dailyRequestCount).toBe(0)
  })

  row("POST, GET, DELETE /api/v1/hub/keys are deprecated aliases", async () => {
    const old = "/api/v1/hub/keys"
    const made = await owner.request<Created>("POST", old, { body: { tier: "builder" } })
    const { id } = made.body.data.meta
    const answers = [
      [made, 201, path],
      [await owner.get(old), 200, path],
      [await owner.delete(`${old}/${id}`), 204, `${path}/${id}`],
      [await owner.delete(`${old}/${id}`), 409, `${path}/${id}`],
      [await berth.request("GET", old), 401, path]
    ] as const
    for (const [{ headers, status }, expected, successor] of answers) {
      expect([status, headers.get("deprecation"), headers.get("sunset"), headers.get("link")]).toEqual([
        expected,
        "true",
        "Sat, 01 Jan 2028 00:00:00 GMT",
        `<${successor}>; rel="successor-version"`
      ])
    }
    expect((await owner.get(path)).headers.has("deprecation")).toBe(false)
  })

  it("are the same over MCP, where a key may read and nothing else", async () => {
    const client = await connectMcp(berth.url, { token: owner.token })
    const made = await callTool(client, "hub_create_key", { tier: "builder" })
    const { key, meta: { id } } = made.structuredContent as unknown as Created["data"]
    expect((await callTool(client, "hub_list_keys", {})).structuredContent).toEqual((await owner.get(path)).body)
    const reader = await connectMcp(berth.url, { token: key })
    expect((await callTool(reader, "directory_search", {})).isError).not.toBe(true)
    expect((await callTool(reader, "whoami", {})).structuredContent).toMatchObject({
      credential: { type: "hub", id, tier: "builder" }
    })
    const names = (await reader.listTools()).tools.map(({ name }) => name)
    expect(names).toContain("directory_search")
    expect(names).not.toContain("hub_list_keys")
    expect(names).not.toContain("list_servers")
    expect((await metaOf(id))?.dailyRequestCount).toBeGreaterThan(2)
    await callTool(client, "hub_revoke_key", { hubKeyId: id })
    expect(textOf(await callTool(client, "hub_revoke_key", { hubKeyId: id }))).toEqual(failure("conflict"))
    await expect(reader.listTools()).rejects.toThrow()
    await Promise.all([client.close(), reader.close()])
  })
})

describe("an operator", () => {
  const capped = useBerth({ variables: { HUB_MAX_TIER: "builder", HUB_RATE_LIMIT: "5" } })

  it("can cap the tiers that accounts may make", async () => {
    const account = await capped.signUp()
    const answer = await account.request("POST", path, { body: { tier: "partner" } })
    expect([answer.status, answer.body]).toEqual([403, failure("forbidden", { maxTier: "builder" })])
    expect((await account.request("POST", path, { body: { tier: "builder" } })).status).toBe(201)
  })

  row("hub: 429 rate_limited by IP, Retry-After at most 60", async () => {
    const [one, other] = [await capped.signUp(), await capped.signUp()]
    const headers = { "x-forwarded-for": "203.0.113.9" }
    for (let i = 0; i < 5; i++) expect((await one.request("GET", path, { headers })).status).toBe(200)
    const refused = await other.request("GET", path, { headers })
    expect([refused.status, refused.body]).toEqual([429, failure("rate_limited")])
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0)
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(60)
    expect((await one.request("GET", path)).status).toBe(200)
  })
})

describeWhen(missingProgram("redis-server"), "without its rate limits", () => {
  const variables: Record<string, string> = {}
  const scope = Effect.runSync(Scope.make())
  let redis: { readonly kill: (signal: "SIGKILL") => boolean }
  beforeAll(async () => {
    const port = await Effect.runPromise(freePort)
    redis = await Effect.runPromise(Scope.extend(redisServer(port), scope))
    variables["REDIS_URL"] = `redis://127.0.0.1:${port}/0`
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const counted = useBerth({ variables })

  row("hub: 503 service_unavailable, rate limits unavailable", async () => {
    const account = await counted.signUp()
    expect((await account.get(path)).status).toBe(200)
    const { listingId } = await listed(account)
    expect((await sendDoc(account, listingId, skillMd)).status).toBe(201)
    redis.kill("SIGKILL")
    const reads = [path, docOf(listingId), "/.well-known/mcp-skills"].map((path) => account.get(path))
    for (const answer of await Promise.all([...reads, sendDoc(account, listingId, skillMd)])) {
      expect([answer.status, answer.body]).toEqual([503, failure("service_unavailable")])
    }
    // The platform goes on, and says once what it does without.
    expect((await account.get("/v1/projects")).status).toBe(200)
    const told = () => counted.logged.filter((line) => line.includes("other requests pass without a rate limit")).length
    await expect.poll(told, { timeout: 5_000 }).toBe(1)
  })
})
