import { createHash } from "node:crypto"
import { request } from "node:http"
import { beforeAll, describe, expect, it } from "vitest"
import { type Account, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { freshAddress, sendRaw, type Sent } from "../support/http.ts"

const berth = useBerth()
let owner: Account
let server: Server
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  server = await owner.server((await owner.project()).id)
})

const closed = "default-src 'none'; frame-ancestors 'none'"
const sourceOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`

describe("what is no page", () => {
  it("loads nothing and stands in no frame, whatever it is and whoever asks", async () => {
    const { token } = owner
    const at = new URL(server.publicUrl).pathname
    const initialize = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }
    }
    const limited = { "x-forwarded-for": freshAddress() }
    for (let n = 0; n < 100; n++) await berth.request("GET", "/v1/projects", { headers: limited })
    const asked: ReadonlyArray<readonly [number, string, string, Sent?]> = [
      [200, "GET", "/v1/health"],
      [200, "HEAD", "/v1/health"],
      [200, "GET", "/v1/projects", { token }],
      [201, "POST", "/v1/projects", { token, body: { name: "Another" } }],
      [422, "POST", "/v1/projects", { token, body: {} }],
      [400, "POST", "/v1/projects", { token, body: "{" }],
      [401, "GET", "/v1/projects"],
      [404, "GET", "/v1/nowhere", { token }],
      [429, "GET", "/v1/projects", { headers: limited }],
      [200, "GET", "/openapi.json"],
      [200, "GET", "/hub/templates/generic_catalog.csv"],
      [200, "GET", "/v1/directory"],
      [200, "GET", "/.well-known/oauth-authorization-server"],
      [200, "GET", "/.well-known/oauth-protected-resource"],
      [200, "GET", "/api/v1/oauth/jwks"],
      [204, "OPTIONS", "/api/v1/oauth/token"],
      [400, "POST", "/api/v1/oauth/token", { body: "grant_type=x" }],
      [401, "POST", "/mcp", { body: initialize }],
      [200, "POST", "/mcp", { token, body: initialize, headers: { accept: "application/json, text/event-stream" } }],
      [401, "POST", `${at}/mcp`, { body: initialize }],
      [404, "GET", "/s/nobody-has-this-slug/mcp"]
    ]
    for (const [status, method, path, sent] of asked) {
      const answer = await berth.request(method, path, sent)
      const { headers } = answer
      expect(
        [answer.status, headers.get("content-security-policy"), headers.get("x-content-type-options")],
        `${method} ${path}`
      ).toEqual([status, closed, "nosniff"])
    }
  })

  it("is closed as an event stream, too, and as the answer to what is no HTTP", async () => {
    const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
      const stream = request(`${berth.url}/sse`, { headers: { authorization: `Bearer ${owner.token}` } }, (answer) => {
        resolve(answer.headers)
        stream.destroy()
      })
      stream.on("error", reject).end()
    })
    expect([headers["content-type"], headers["content-security-policy"]]).toEqual([
      "text/event-stream; charset=utf-8",
      closed
    ])
    expect(await sendRaw(berth.url, "hello\r\n\r\n")).toContain(`\r\nContent-Security-Policy: ${closed}\r\n`)
  })
})

describe("a page of the documentation", () => {
  const policyOf = async (path: string) => {
    const { headers, status, text } = await berth.request("GET", path)
    expect([status, headers.get("x-content-type-options")], path).toEqual([200, "nosniff"])
    return { policy: headers.get("content-security-policy") ?? "", text }
  }

  it("at / has its own style and nothing else", async () => {
    const { policy, text } = await policyOf("/")
    const [, style = ""] = /<style>([^<]*)<\/style>/.exec(text) ?? []
    expect(policy).toBe(`${closed}; style-src ${sourceOf(style)}`)
    expect(text).not.toContain("<script")
  })

  it("at /docs runs the script that stands in it, and asks nobody but us", async () => {
    const { policy, text } = await policyOf("/docs?x=1")
    const within = (element: string) =>
      [...text.matchAll(new RegExp(`<${element}>([^]*?)</${element}>`, "g"))].map(([, inner = ""]) => sourceOf(inner))
    expect(policy.split("; ")).toEqual([
      "default-src 'none'",
      "frame-ancestors 'none'",
      `script-src ${within("script").join(" ")}`,
      `style-src ${within("style").join(" ")}`,
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'"
    ])
    expect((await policyOf("/docs")).policy).toBe(policy)
  })
})
