import { describe, expect } from "vitest"
import { useBerth } from "../support/Berth.ts"
import { row } from "./row.ts"
import { failure } from "./shapes.ts"

const berth = useBerth()

describe("metrics", () => {
  row("server metrics are requestCount, errorCount, avgLatencyMs, p99LatencyMs", async () => {
    const owner = await berth.signUp("enterprise")
    const project = await owner.project()
    const { id } = await owner.server(project.id)
    const path = `/v1/servers/${id}/metrics`
    const figures = { data: { requestCount: 0, errorCount: 0, avgLatencyMs: 0, p99LatencyMs: 0 } }
    const key = async (...scopes: ReadonlyArray<string>) => (await owner.key(project.id, scopes)).key
    const reader = await key("metrics:read")
    for (const query of ["", "?period=1h"]) {
      for (const token of [owner.token, reader]) {
        const answer = await berth.request("GET", path + query, { token })
        expect([answer.status, answer.body]).toEqual([200, figures])
      }
    }
    const refused = await berth.request("GET", path, { token: await key("logs:read") })
    expect([refused.status, refused.body]).toEqual([403, failure("FORBIDDEN", { requiredScopes: ["metrics:read"] })])
    const unknown = await owner.get(`${path}?period=fortnight`)
    expect([unknown.status, unknown.body]).toMatchObject([400, failure("BAD_REQUEST", expect.any(Object))])
    expect((await (await berth.signUp()).get(path)).status).toBe(404)
  })
})
