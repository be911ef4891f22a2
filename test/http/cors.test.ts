import { beforeAll, describe, expect, it } from "vitest"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { newBusiness } from "../support/business.ts"
import { freshAddress } from "../support/http.ts"

const berth = useBerth()
const page = { origin: "https://agent.example" }
const readable = [
  "etag",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-request-id",
  "retry-after",
  "x-hub-listing-id",
  "x-hub-listing-tier",
  "x-hub-verification-tier",
  "x-hub-health-score",
  "x-hub-url"
]
const reads = [
  "/v1/directory?search=ladle",
  "/.well-known/mcp-server-metadata?subdomain=nobody",
  "/.well-known/mcp-skills?limit=1",
  "/v1/feeds/businesses?limit=1",
  "/v0.1/servers",
  "/v0.1/servers/a%2Fb/versions/latest",
  "/hub/templates/restaurant_menu.csv",
  "/.well-known/agent-skills/index.json",
  "/.well-known/skills/none/SKILL.md",
  "/l/none/.well-known/agent-skills/index.json",
  "/openapi.json",
  "/v1/health"
]

let owner: Account
let listing: string
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  listing = `/v1/directory/${(await newBusiness(owner)).listingId}`
  await owner.patch(listing, { visible: true })
})

const allowed = (headers: Headers) => headers.get("access-control-allow-origin")
const ask = (path: string, method: string, more: Readonly<Record<string, string>> = {}) =>
  berth.request("OPTIONS", path, {
    headers: {
      ...page,
      "access-control-request-method": method,
      "access-control-request-headers": "mcp-protocol-version",
      ...more
    }
  })

describe("an agent in a page of any origin", () => {
  it("reads what is public, its limits and its failures", async () => {
    for (const path of [...reads, listing, "/v1/directory/x", "/v1/directory?limit=x", "/hub/templates/none.csv"]) {
      for (const method of ["GET", "HEAD"]) {
        const { headers } = await berth.request(method, path, { headers: page })
        expect(allowed(headers), `${method} ${path}`).toBe("*")
        const exposed = headers.get("access-control-expose-headers")?.toLowerCase().split(", ")
        expect(exposed, path).toEqual(readable)
        expect(headers.has("access-control-allow-credentials")).toBe(false)
      }
    }
  })

  it("reads every header of a listing's skill", async () => {
    const id = listing.slice("/v1/directory/".length)
    const { headers } = await berth.request("GET", `/api/v1/hub/listings/${id}/skill.md`, { headers: page })
    const exposed = headers.get("access-control-expose-headers")?.toLowerCase().split(", ")
    const own = [...headers.keys()].filter((name) => name.startsWith("x-hub-"))
    expect(own).toHaveLength(5)
    expect(exposed).toEqual(expect.arrayContaining(own))
  })

  it("is told by a preflight that it may", async () => {
    for (const path of [...reads, listing]) {
      const { headers, status, text } = await ask(path, "GET")
      expect([status, text, allowed(headers)], path).toEqual([204, "", "*"])
      expect(headers.get("access-control-allow-methods")).toBe("GET, HEAD, OPTIONS")
      expect(headers.get("access-control-allow-headers")).toMatch(/MCP-Protocol-Version/)
      expect(headers.has("x-ratelimit-limit") && headers.has("x-request-id")).toBe(true)
    }
  })

  it("hears that it asked too often, and when to come again", async () => {
    const headers = { ...page, "x-forwarded-for": freshAddress() }
    const get = () => berth.request("GET", "/v0.1/servers", { headers })
    const answers = await Promise.all(Array.from({ length: 101 }, get))
    const refused = answers.find(({ status }) => status === 429)
    expect(allowed(refused!.headers)).toBe("*")
    expect(refused!.headers.has("retry-after")).toBe(true)
    expect((await ask("/v1/directory", "GET", headers)).status).toBe(204)
  })

  it("gets nothing of what takes a cookie or changes something, not even at the same path", async () => {
    const cookie = `svc_session=${owner.token}`
    const write = await berth.request("PATCH", listing, { headers: { ...page, cookie }, body: { visible: false } })
    expect([write.status, allowed(write.headers)]).toEqual([403, null])
    const byBearer = await owner.request("PATCH", listing, { headers: page, body: { visible: true } })
    expect([byBearer.status, allowed(byBearer.headers)]).toEqual([200, null])
    const mayPatch = await ask(listing, "PATCH")
    expect(mayPatch.headers.get("access-control-allow-methods")).not.toMatch(/PATCH|\*/)
    const own = [
      "/v1/auth/me",
      "/v1/projects",
      "/api/v1/ready/businesses",
      "/v1/directoryx",
      "/v1/health/x",
      "/",
      "/docs"
    ]
    for (const path of own) {
      const answer = await berth.request("GET", path, { headers: { ...page, cookie } })
      const preflight = await ask(path, "GET")
      expect([allowed(answer.headers), allowed(preflight.headers), preflight.status], path).toEqual([
        null,
        null,
        answer.status === 404 ? 404 : 204
      ])
    }
  })
})
