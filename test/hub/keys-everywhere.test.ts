import { beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { freshAddress } from "../support/http.ts"
import { served, withDeployment } from "../support/served.ts"

const berth = useBerth()
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  await withDeployment(berth, await served(owner, "copper"))
})

const keys = "/api/v1/hub/api-keys"
interface Created {
  readonly data: { readonly key: string; readonly meta: { readonly id: string } }
}
const made = async () => dataOf(await owner.request<Created>("POST", keys, { body: {} }))
const counted = async (id: string) => {
  const answer = await owner.get<{ data: ReadonlyArray<{ id: string; dailyRequestCount: number }> }>(keys)
  return answer.body.data.find((meta) => meta.id === id)?.dailyRequestCount
}
const sentAs = [
  (key: string) => ({ authorization: `Bearer ${key}` }),
  (key: string) => ({ "x-api-key": key })
]
const reads = [
  "/v1/directory",
  "/.well-known/mcp-server-metadata?subdomain=copper",
  "/v0.1/servers",
  "/v0.1/servers/com.example.mcp%2Fnobody/versions",
  "/mcp/server-card",
  "/s/copper/mcp/server-card"
]

describe("a hub key, on what anybody may read", () => {
  it.each(reads)("counts on %s, and is refused there when it was revoked", async (path) => {
    const { key, meta: { id } } = await made()
    const open = await berth.request("GET", path)
    for (const [at, headersOf] of sentAs.entries()) {
      const { body, headers, status } = await berth.request("GET", path, { headers: headersOf(key) })
      expect([status, body]).toEqual([open.status, open.body])
      expect([headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]).toEqual(["100", `${99 - at}`])
    }
    expect(await counted(id)).toBe(2)
    await owner.delete(`${keys}/${id}`)
    for (const headersOf of sentAs) {
      const { body, headers, status } = await berth.request("GET", path, { headers: headersOf(key) })
      const { code } = (body as { error: { code: string } }).error
      expect([status, code.toLowerCase(), headers.get("www-authenticate")]).toEqual([401, "unauthorized", "Bearer"])
    }
  })

  it("that is spent is told its own limit until midnight, and leaves its address its requests", async () => {
    const { key } = await made()
    const address = { "x-forwarded-for": freshAddress() }
    const headers = { ...address, "x-api-key": key }
    const directory = () => berth.request("GET", "/v1/directory", { headers })
    await Promise.all(Array.from({ length: 100 }, directory))
    for (const path of reads) {
      const answer = await berth.request("GET", path, { headers })
      const told = (name: string) => answer.headers.get(`x-ratelimit-${name}`)
      expect([answer.status, told("limit"), told("remaining")], path).toEqual([429, "100", "0"])
      expect(answer.text.toLowerCase(), path).toContain(`"code":"quota_exceeded"`)
      expect(Number(told("reset")) % 86_400, path).toBe(0)
      const wait = Number(told("reset")) - berth.now() / 1000
      expect(Math.abs(Number(answer.headers.get("retry-after")) - wait), path).toBeLessThan(10)
    }
    await Promise.all(Array.from({ length: 300 }, directory))
    const { headers: left } = await berth.request("GET", "/v1/directory", { headers: address })
    expect([left.get("x-ratelimit-limit"), left.get("x-ratelimit-remaining")]).toEqual(["300", "299"])
  })
})
