import { beforeAll, describe, expect, it } from "vitest"
import { dataOf } from "../../support/account.ts"
import { useBerth } from "../../support/Berth.ts"
import { type Flow, newFlow, postForm, replayToken } from "../../support/oauth.ts"
import { runSql } from "../../support/sql.ts"

const berth = useBerth()
let flow: Flow
beforeAll(async () => {
  flow = await newFlow(berth)
})

describe("[12] RFC 7662: introspection", () => {
  it("§2.2: tells a server about an access token for it, by whichever of its URLs it was asked for", async () => {
    const host = `http://${flow.server.slug}.mcp.localhost:${new URL(berth.url).port}`
    for (const resource of [flow.server.publicUrl, host]) {
      const { access_token } = await flow.tokens({ resource, scope: "mcp:read" })
      const { body, headers, status } = await flow.introspect(access_token)
      expect([status, body]).toEqual([200, {
        active: true,
        token_type: "Bearer",
        iss: berth.url,
        sub: flow.user.id,
        aud: flow.server.publicUrl,
        client_id: flow.clientId,
        scope: "mcp:read",
        iat: expect.any(Number),
        exp: expect.any(Number),
        jti: expect.any(String)
      }])
      expect(headers.get("cache-control")).toBe("no-store")
    }
  })

  it("§2.2: of an owner's test token, too", async () => {
    const made = await flow.owner.post<{ data: { accessToken: string } }>(
      `/v1/servers/${flow.server.id}/test-token`,
      undefined
    )
    if (made.status === 404) throw new Error(made.text)
    expect((await flow.introspect(dataOf(made).accessToken)).body).toMatchObject({ active: true, sub: flow.owner.id })
  })

  it("§2.2: of anything else says that it is not active, and nothing more", async () => {
    const other = await flow.owner.server(flow.project.id, { name: "Other" })
    const tokens = await flow.tokens()
    const platform = await flow.tokens({ resource: `${berth.url}/mcp`, scope: "servers:read" })
    const not = [
      tokens.refresh_token!,
      platform.access_token,
      `${tokens.access_token}x`,
      flow.user.token,
      "a.b.c",
      "\u0000",
      await replayToken(berth, flow.server.id)
    ]
    for (const token of not) expect((await flow.introspect(token)).text).toBe("{\"active\":false}")
    expect((await flow.introspect(tokens.access_token, other)).text).toBe("{\"active\":false}")
    expect((await flow.introspect(tokens.access_token)).body.active).toBe(true)
  })

  it("§2.1: asks who asks", async () => {
    const { access_token } = await flow.tokens()
    const callers = [undefined, "unknown", access_token, flow.owner.token, (await flow.owner.key(flow.project.id)).key]
    for (const token of callers) {
      const answer = await postForm(berth, "/api/v1/oauth/introspect", { token: access_token }, { token })
      expect([answer.status, answer.body]).toMatchObject([401, { error: "invalid_token" }])
      expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/)
      expect(answer.text).not.toContain("active")
    }
    const byToken = { token: await replayToken(berth, flow.server.id) }
    const without = await postForm(berth, "/api/v1/oauth/introspect", { not: "x" }, byToken)
    expect([without.status, without.body]).toMatchObject([400, { error: "invalid_request" }])
    // What a server asks with is good for asking, and nothing else.
    expect((await berth.request("GET", "/v1/servers", byToken)).status).toBe(401)
  })

  it("counts each server by its owner's plan, not by the address that all machines share", async () => {
    const { headers } = await flow.introspect("x")
    expect(headers.get("x-ratelimit-limit")).toBe("100000")
  })

  it("a token ends with its time, and with its user", async () => {
    const gone = await newFlow(berth)
    const orphan = (await gone.tokens()).access_token
    await runSql(berth.databaseUrl, "DELETE FROM users WHERE id = $1", [gone.user.id])
    expect((await gone.introspect(orphan)).body).toEqual({ active: false })
    const { access_token } = await flow.tokens()
    berth.advance(15 * 60_000)
    expect((await flow.introspect(access_token)).body).toEqual({ active: false })
  })
})
