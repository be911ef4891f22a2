import { beforeAll, describe, expect, it, vi } from "vitest"
import { useBerth } from "../../support/Berth.ts"
import { type Flow, newFlow, type OAuthErrorBody, postForm } from "../../support/oauth.ts"
import { registerClient } from "../../support/pages.ts"

const berth = useBerth()
let flow: Flow
beforeAll(async () => {
  flow = await newFlow(berth)
})

const revoke = (fields: Readonly<Record<string, string>>) =>
  postForm<OAuthErrorBody>(berth, "/api/v1/oauth/revoke", fields)

/** Whether the gateway lets the token in (there is no machine behind it). */
const passes = async (token: string) =>
  (await berth.request("POST", `${new URL(flow.server.publicUrl).pathname}/mcp`, { token, body: {} })).status === 503

describe("[12] RFC 7009: revocation", () => {
  it("§2: ends the refresh token and, at the gateway too, the access tokens", async () => {
    for (const kind of ["refresh_token", "access_token"] as const) {
      const tokens = await flow.tokens()
      expect(await passes(tokens.access_token)).toBe(true)
      const answer = await revoke({ client_id: flow.clientId, token: tokens[kind]!, token_type_hint: kind })
      expect([answer.status, answer.text]).toEqual([200, ""])
      expect(answer.headers.get("cache-control")).toBe("no-store")
      expect((await flow.refresh<OAuthErrorBody>(tokens.refresh_token)).body.error).toBe("invalid_grant")
      expect((await flow.introspect(tokens.access_token)).body).toEqual({ active: false })
      await vi.waitFor(async () => expect(await passes(tokens.access_token)).toBe(false))
    }
  })

  it("§2.1: the token must be the client's", async () => {
    const tokens = await flow.tokens()
    const other = await registerClient(berth, "Other", "https://other.example/callback")
    for (const token of [tokens.refresh_token!, tokens.access_token]) {
      const answer = await revoke({ client_id: other, token })
      expect([answer.status, answer.body.error]).toEqual([400, "invalid_grant"])
    }
    expect((await flow.refresh(tokens.refresh_token)).status).toBe(200)
  })

  it("§2.2: an unknown token is 200", async () => {
    for (const token of ["unknown", "a.b.c", "berth_rt_", "\u0000"]) {
      expect((await revoke({ client_id: flow.clientId, token })).status).toBe(200)
    }
  })

  it("§2.2.1: an unknown client is 401, a missing parameter 400", async () => {
    expect(await revoke({ client_id: "unknown", token: "x" })).toMatchObject({
      status: 401,
      body: { error: "invalid_client" }
    })
    expect(await revoke({ client_id: flow.clientId })).toMatchObject({
      status: 400,
      body: { error: "invalid_request" }
    })
    expect(await revoke({ token: "x" })).toMatchObject({ status: 400, body: { error: "invalid_request" } })
  })
})
