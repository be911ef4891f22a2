import { beforeAll, describe, expect, it } from "vitest"
import { twins } from "../mcp/twins.ts"
import { type Account } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { composites } from "../support/composites.ts"
import { type FailureBody } from "../support/http.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"
import { fill, openApi, type Operation, operationsOf } from "../support/operations.ts"

const berth = useBerth()
let owner: Account
let operations: ReadonlyArray<Operation>
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  operations = operationsOf(await openApi(berth))
})

/** Links that people follow or assistants show, what probes ask, and what another specification defines. */
const ignores = [
  "GET /v1/health",
  "GET /api/v1/hub/listings/{listingId}/referral",
  "GET /api/v1/hub/listings/{listingId}/skill.md",
  "GET /api/v1/hub/listings/{listingId}/capability-doc/content",
  "GET /v1/hub/composites/{compositeId}/skill.md"
]
const isOpen = ({ name, path }: Operation) => ignores.includes(name) || path.startsWith("/v0.1/")
const issue = { path: "verbose", message: "is not a known field" }

describe("a parameter of the query that nobody knows", () => {
  it("is 400 at every operation that the platform describes, and told by name", async () => {
    for (const operation of operations.filter((one) => !isOpen(one))) {
      const { body, status } = await owner.request<FailureBody>(
        operation.method,
        `${fill(operation, {})}?verbose=1`,
        operation.bodyFields === undefined ? {} : { body: {} }
      )
      expect([operation.name, status, body.error.details?.issues]).toEqual([operation.name, 400, [issue]])
    }
  })

  it("is told in the envelope in which a tool that reads or deletes refuses such an argument", async () => {
    const client = await connectMcp(berth.url, { token: owner.token })
    const withoutBody = operations.filter(({ method }) => method === "GET" || method === "DELETE")
    const asked = withoutBody.filter((one) => twins[one.name] !== undefined && !isOpen(one))
    for (const operation of asked) {
      const ids = Object.fromEntries(operation.parameters.map((name) => [name, "x"]))
      const query: Readonly<Record<string, string>> = operation.query.includes("subdomain") ? { subdomain: "x" } : {}
      const search = new URLSearchParams({ ...query, verbose: "1" }).toString()
      const http = await owner.request<FailureBody>(operation.method, `${fill(operation, ids)}?${search}`)
      const args = { ...ids, ...query, verbose: 1 }
      const mcp = await callTool(client, twins[operation.name] ?? "", args)
      expect([operation.name, textOf(mcp)]).toEqual([operation.name, http.body])
    }
    await client.close()
  })

  it("is told beside what else is wrong, each once, and with the name that may have been meant", async () => {
    const issues = async (path: string) => (await owner.get<FailureBody>(path)).body.error.details?.issues
    expect(await issues("/v1/projects?limt=5&limit=x&limt=6")).toEqual([
      { path: "limt", message: "is not a known field. Did you mean \"limit\"?" },
      { path: "limit", message: "must be an integer between 1 and 100" }
    ])
    expect(await issues("/v1/projects?__proto__=1")).toEqual([{ ...issue, path: "__proto__" }])
    expect(await issues(`${composites}/mine?x=1&y=&x=2&%00`)).toEqual(
      ["x", "y", "\u0000"].map((path) => ({ ...issue, path }))
    )
    for (const path of [`${composites}/mine?`, `${composites}/mine?&&`, "/v1/projects?&limit=1&"]) {
      expect((await owner.get(path)).status, path).toBe(200)
    }
  })

  it("is ignored in links that people follow, by probes, and where another specification defines them", async () => {
    const open = ["/v1/health?verbose=1", "/v0.1/servers?include_deleted=true&__proto__=x", "/docs?utm_source=x"]
      .concat("/.well-known/oauth-authorization-server?verbose=1", "/openapi.json?verbose=1")
    for (const path of open) expect((await berth.request("GET", path)).status, path).toBe(200)
    const referral = `/api/v1/hub/listings/${"0".repeat(26)}/referral?utm_source=x`
    expect((await berth.request("GET", referral)).status).toBe(404)
  })
})
