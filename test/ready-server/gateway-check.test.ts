import { gatewayCheck } from "#src/ready-server/gateway-check.ts"
import { introspection } from "#src/ready-server/introspection.ts"
import { SignJWT } from "jose"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { type AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { run, type Running } from "./bundle.ts"
import { restaurant } from "./config.ts"

const jwt = (issuer: string, subject = "a") =>
  new SignJWT({}).setProtectedHeader({ alg: "HS256" }).setIssuer(issuer).setSubject(subject).sign(Buffer.alloc(32))

describe("what a hosted server can check", () => {
  const asked: Array<
    { readonly authorization: string | undefined; readonly body: string; readonly type: string | undefined }
  > = []
  const dead = new Set<string>()
  const authorizationServer = createServer((req, res) =>
    void text(req).then((body) => {
      asked.push({ authorization: req.headers.authorization, body, type: req.headers["content-type"] })
      const active = req.url === "/api/v1/oauth/introspect" && !dead.has(new URLSearchParams(body).get("token") ?? "")
      res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ active }))
    })
  )
  let issuer = ""
  let server: Running
  beforeAll(async () => {
    await new Promise<void>((resolve) => authorizationServer.listen(0, "127.0.0.1", () => resolve()))
    issuer = `http://127.0.0.1:${(authorizationServer.address() as AddressInfo).port}`
    const running = await run({
      PORT: "0",
      SVC_READY_CONFIG: JSON.stringify(restaurant),
      PLATFORM_MCP_REPLAY_TOKEN: "replay",
      OAUTH_BASE_URL: issuer,
      SVC_MCP_PUBLIC_URL: "https://berth.test/s/menu"
    })
    if (!("url" in running)) throw new Error(running.stderr)
    server = running
  }, 60_000)
  afterAll(async () => {
    authorizationServer.close()
    await server?.stop()
  })

  const post = (headers: Readonly<Record<string, string>>) =>
    fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
    })

  it("is that a request passed the gateway: any other is 403, health aside", async () => {
    const wrong = [{}, { "x-berth-gateway-token": "" }, { "x-berth-gateway-token": "replay2" }]
    for (const headers of wrong) assert.strictEqual((await post(headers)).status, 403)
    for (const path of ["/sse", "/message?sessionId=1"]) {
      const answer = await fetch(server.url + path, { method: path === "/sse" ? "GET" : "POST" })
      assert.strictEqual(answer.status, 403)
    }
    assert.strictEqual((await fetch(`${server.url}/healthz`)).status, 200)
    assert.strictEqual((await post({ "x-berth-gateway-token": "replay" })).status, 200)
  })

  it("is that the token is active still, asked with the replay token (RFC 7662)", async () => {
    const token = await jwt(issuer)
    const headers = { "x-berth-gateway-token": "replay", authorization: `Bearer ${token}` }
    asked.length = 0
    for (let i = 0; i < 3; i++) assert.strictEqual((await post(headers)).status, 200)
    assert.deepStrictEqual(asked, [{
      authorization: "Bearer replay",
      body: `token=${token}`,
      type: "application/x-www-form-urlencoded;charset=UTF-8"
    }])
    const revoked = await jwt(issuer, "b")
    dead.add(revoked)
    const answer = await post({ ...headers, authorization: `Bearer ${revoked}` })
    assert.strictEqual(answer.status, 401)
    assert.strictEqual(
      answer.headers.get("www-authenticate"),
      `Bearer error="invalid_token", resource_metadata="https://berth.test/.well-known/oauth-protected-resource/s/menu"`
    )
  })

  it("leaves tokens of other issuers (byoa) alone", async () => {
    asked.length = 0
    for (const token of [await jwt("https://elsewhere.example"), "opaque"]) {
      assert.strictEqual(
        (await post({ "x-berth-gateway-token": "replay", authorization: `Bearer ${token}` })).status,
        200
      )
    }
    assert.strictEqual(asked.length, 0)
  })
})

describe("introspection", () => {
  const answering = (answers: ReadonlyArray<() => Response>) => {
    let now = 0
    let count = 0
    const fetch: typeof globalThis.fetch = () => {
      const answer = answers[Math.min(count++, answers.length - 1)]!
      return new Promise((resolve) => resolve(answer()))
    }
    const introspect = introspection({ issuer: "https://a", credential: "c", fetch, now: () => now })
    return { introspect, count: () => count, advance: (ms: number) => void (now += ms) }
  }
  const says = (active: unknown) => () => Response.json({ active })

  it("notices a revocation within half a minute", async () => {
    const { advance, introspect } = answering([says(true), says(false)])
    assert.strictEqual(await introspect("t"), "active")
    advance(31_000)
    assert.strictEqual(await introspect("t"), "inactive")
  })

  it("knows nothing when nobody answers sensibly, and does not hold up each request by asking again", async () => {
    const failures = [
      () => {
        throw new TypeError("fetch failed")
      },
      () => new Response("", { status: 503 }),
      () => new Response("<html>"),
      says("yes")
    ]
    for (const failure of failures) {
      const { advance, count, introspect } = answering([failure, says(true)])
      assert.strictEqual(await introspect("t"), "unknown")
      assert.strictEqual(await introspect("u"), "unknown")
      assert.strictEqual(count(), 1)
      advance(31_000)
      assert.strictEqual(await introspect("u"), "active")
    }
  })

  it("being unable, the gateway's word stands", async () => {
    const check = gatewayCheck({
      replayToken: "r",
      issuer: "https://a",
      publicUrl: undefined,
      introspect: () => Promise.resolve("unknown")
    })
    const headers: IncomingHttpHeaders = {
      "x-berth-gateway-token": "r",
      authorization: `Bearer ${await jwt("https://a")}`
    }
    assert.isUndefined(await check(headers))
  })
})
