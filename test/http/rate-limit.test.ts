import { describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { Holder } from "../support/account.ts"
import { Berth, useBerth } from "../support/Berth.ts"
import { type Answer, freshAddress } from "../support/http.ts"
import { itLong, soak } from "../support/needs.ts"

const berth = useBerth()

const limited = (answer: Answer) => {
  expect([answer.status, answer.body]).toEqual([429, failure("RATE_LIMITED")])
  const retryAfter = Number(answer.headers.get("retry-after"))
  expect(retryAfter).toBeGreaterThanOrEqual(1)
  expect(retryAfter).toBeLessThanOrEqual(60)
  expect(answer.headers.get("x-ratelimit-remaining")).toBe("0")
}

const spend = async (send: () => Promise<Answer>, count = 100) => {
  const answers = await Promise.all(Array.from({ length: count }, send))
  return answers.filter(({ status }) => status !== 429).length
}

const anonymous = (address: string, on = berth) => () =>
  on.request("GET", "/v1/nothing", { headers: { "x-forwarded-for": address } })

describe("the rate limit", () => {
  it("lets an account through 100 times a minute on the free plan, however many come at once", async () => {
    const account = await berth.signUp()
    expect(await spend(() => account.get("/v1/billing"), 150)).toBe(100)
    limited(await account.get("/v1/billing"))
    berth.advance(60_000)
    expect((await account.get("/v1/billing")).status).toBe(200)
  })

  const [each, all] = soak ? [50, "10,000"] : [10, "2,000"]
  itLong(`lets exactly 1,000 of ${all} requests through that 200 clients of one account send`, async () => {
    const account = await berth.signUp("developer")
    let passed = 0
    await Promise.all(Array.from({ length: 200 }, async () => {
      for (let i = 0; i < each; i++) if ((await account.get("/v1/nothing")).status !== 429) passed++
    }))
    expect(passed).toBe(1_000)
  }, 120_000)

  it("counts down by one a request, to a reset that stays", async () => {
    const account = await berth.signUp()
    const [first, second] = [await account.get("/v1/billing"), await account.get("/v1/nothing")]
    expect(first.headers.get("x-ratelimit-remaining")).toBe("99")
    expect(second.headers.get("x-ratelimit-remaining")).toBe("98")
    expect(second.headers.get("x-ratelimit-reset")).toBe(first.headers.get("x-ratelimit-reset"))
  })

  it("counts an account wherever it calls from, and over HTTP and MCP together", async () => {
    const account = await berth.signUp()
    expect(await spend(() => new Holder(berth, account.token).get("/v1/billing"), 99)).toBe(99)
    const body = { jsonrpc: "2.0", id: 1, method: "ping" }
    const headers = { accept: "application/json, text/event-stream" }
    expect((await account.request("POST", "/mcp", { body, headers })).status).toBe(200)
    expect((await account.request("POST", "/mcp", { body, headers })).status).toBe(429)
    limited(await account.get("/v1/billing"))
  })

  itLong("counts each key within its account: five of them together get what one gets", async () => {
    const account = await berth.signUp()
    const project = await account.project()
    const keys = await Promise.all(Array.from({ length: 5 }, () => account.holder(project.id)))
    berth.advance(60_000)
    const passed = await Promise.all(keys.map((key) => spend(() => key.get("/v1/billing"), 40)))
    expect(passed.reduce((sum, count) => sum + count, 0)).toBe(100)
    for (const holder of [...keys, account]) limited(await holder.get("/v1/billing"))
  })

  itLong("lets one key use all that its account has", async () => {
    const account = await berth.signUp()
    const key = await account.holder((await account.project()).id)
    berth.advance(60_000)
    expect(await spend(() => key.get("/v1/billing"), 101)).toBe(100)
    limited(await account.get("/v1/billing"))
  })

  it("holds a key to its own minute too, and tells of the tighter of the two", async () => {
    const account = await berth.signUp()
    const key = await account.holder((await account.project()).id)
    berth.advance(60_000)
    await account.get("/v1/billing")
    berth.advance(30_000)
    expect(await spend(() => key.get("/v1/billing"), 99)).toBe(99)
    // The account's minute is over, the key's is not.
    berth.advance(30_000)
    const last = await key.get("/v1/billing")
    expect([last.status, last.headers.get("x-ratelimit-remaining")]).toEqual([200, "0"])
    limited(await key.get("/v1/billing"))
    const session = await account.get("/v1/billing")
    expect([session.status, session.headers.get("x-ratelimit-remaining")]).toEqual([200, "98"])
  })

  it("counts the anonymous by address, wrong credentials among them", async () => {
    const address = freshAddress()
    expect(await spend(anonymous(address), 60)).toBe(60)
    const wrong = () =>
      berth.request("GET", "/v1/billing", { token: "svc_live_x", headers: { "x-forwarded-for": address } })
    expect(await spend(wrong, 60)).toBe(40)
    limited(await anonymous(address)())
    expect((await anonymous(freshAddress())()).status).toBe(404)
  })

  it("counts what leads a client to a token in a roomier bucket of the address, bounded all the same", async () => {
    const headers = { "x-forwarded-for": freshAddress() }
    const asks: ReadonlyArray<readonly [string, string]> = [
      ["GET", "/.well-known/oauth-authorization-server"],
      ["GET", "/.well-known/openid-configuration"],
      ["GET", "/.well-known/oauth-protected-resource/mcp"],
      ["GET", "/.well-known/oauth-protected-resource"],
      ["HEAD", "/api/v1/oauth/jwks"],
      ["POST", "/mcp"],
      ["GET", "/sse"]
    ]
    for (const [at, [method, path]] of asks.entries()) {
      const token = path === "/sse" ? { token: "svc_sess_expired" } : {}
      const answer = await berth.request(method, path, { headers, ...token })
      const [limit, remaining] = ["limit", "remaining"].map((name) => answer.headers.get(`x-ratelimit-${name}`))
      expect([limit, remaining], path).toEqual(["1000", `${999 - at}`])
    }
    const next = await anonymous(headers["x-forwarded-for"])()
    expect(next.headers.get("x-ratelimit-remaining")).toBe("99")
    expect(await spend(anonymous(headers["x-forwarded-for"]))).toBe(99)
    expect((await berth.request("GET", "/.well-known/oauth-authorization-server", { headers })).status).toBe(200)
  })

  it("shows a browser a page where pages are, and any other caller the envelope", async () => {
    const headers = { "x-forwarded-for": freshAddress() }
    await spend(anonymous(headers["x-forwarded-for"]))
    const browser = { ...headers, accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" }
    for (const path of ["/oauth/sign-in", "/api/v1/oauth/authorize?client_id=x"]) {
      const answer = await berth.request("GET", path, { headers: browser })
      expect([answer.status, answer.headers.get("content-type")], path).toEqual([
        429,
        expect.stringMatching(/^text\/html/)
      ])
      expect(answer.text).toContain("Too many requests")
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0)
    }
    limited(await berth.request("GET", "/oauth/sign-in", { headers }))
  })

  it("refuses a message at /mcp with an error of JSON-RPC, its id and our code, and the status and headers of any", async () => {
    const account = await berth.signUp()
    await spend(() => account.get("/v1/billing"))
    const long = { jsonrpc: "2.0", id: 1, method: "ping", params: { long: "x".repeat(100_000) } }
    const odd = [["{", null], [[], null], [{ jsonrpc: "2.0", method: "notifications/x" }, null], [long, null]] as const
    for (const [body, id] of [[{ jsonrpc: "2.0", id: 1, method: "ping" }, 1], [{ id: "a" }, "a"], ...odd] as const) {
      const answer = await account.post("/mcp", body)
      expect([answer.status, answer.body]).toEqual([429, {
        jsonrpc: "2.0",
        id,
        error: {
          code: -32_000,
          message: expect.stringMatching(/^More than 100 requests a minute/),
          data: { code: "RATE_LIMITED" }
        }
      }])
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0)
    }
  })

  it("counts an IPv6 network of 64 bits as one", async () => {
    expect(await spend(anonymous("2001:db8:1:2::1"))).toBe(100)
    limited(await anonymous("2001:db8:1:2:ffff:ffff:ffff:ffff")())
    limited(await anonymous("2001:0DB8:0001:0002::7")())
    expect((await anonymous("2001:db8:1:3::1")()).status).toBe(404)
  })

  it("never turns a health probe away", async () => {
    const address = freshAddress()
    await spend(anonymous(address), 101)
    const answer = await berth.request("GET", "/v1/health", { headers: { "x-forwarded-for": address } })
    expect(answer.status).toBe(200)
  })

  it("refuses before anything is done: no project is made by the 101st request", async () => {
    const account = await berth.signUp()
    await spend(() => account.get("/v1/billing"))
    limited(await account.post("/v1/projects", { name: "x" }))
    berth.advance(60_000)
    expect((await account.get("/v1/projects")).body).toMatchObject({ meta: { total: 0 } })
  })
})

describe("TRUST_PROXY", () => {
  it("of 1 takes the last address of X-Forwarded-For, so that a caller's own claim counts nothing", async () => {
    const address = freshAddress()
    const claims = await Promise.all(
      Array.from({ length: 101 }, () => anonymous(`${freshAddress()}, ${address}`)())
    )
    expect(claims.filter(({ status }) => status === 429)).toHaveLength(1)
  })

  itLong("of 0 takes the connection's address, whatever X-Forwarded-For says", async () => {
    const direct = await new Berth().start({ variables: { TRUST_PROXY: "0" } })
    try {
      const send = () => anonymous(freshAddress(), direct)()
      expect(await spend(send, 101)).toBe(100)
    } finally {
      await direct.stop()
    }
  })

  itLong("of 2 takes the last but one", async () => {
    const behindTwo = await new Berth().start({ variables: { TRUST_PROXY: "2" } })
    try {
      const address = freshAddress()
      const send = () => anonymous(`${freshAddress()}, ${address}, ${freshAddress()}`, behindTwo)()
      expect(await spend(send, 101)).toBe(100)
    } finally {
      await behindTwo.stop()
    }
  })
})
