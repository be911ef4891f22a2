import { decodeJwt } from "jose"
import { beforeAll, describe, expect, it } from "vitest"
import { useBerth } from "../../support/Berth.ts"
import { type Flow, newFlow, type OAuthErrorBody } from "../../support/oauth.ts"

const berth = useBerth()
let flow: Flow
beforeAll(async () => {
  flow = await newFlow(berth)
})

describe("[7] RFC 8707: resource indicators", () => {
  it("§2: the token is for the resource that was asked for, a server in whichever form of its address", async () => {
    const { publicUrl, slug } = flow.server
    const host = `http://${slug}.mcp.localhost:${new URL(berth.url).port}`
    for (const resource of [publicUrl, host, `${host}/`, `${host}/mcp`, `${publicUrl}/sse`]) {
      expect(decodeJwt((await flow.tokens({ resource })).access_token).aud, resource).toEqual(publicUrl)
    }
    const door = `${berth.url}/mcp`
    const platform = await flow.tokens({ resource: door, scope: "servers:read account" })
    expect([decodeJwt(platform.access_token).aud, platform.scope]).toEqual([door, "servers:read account"])
  })

  it("§2: an unknown, malformed or missing resource is invalid_target, told the client with state and iss", async () => {
    for (const resource of ["https://elsewhere.example", `${flow.server.publicUrl}#f`, "x", ""]) {
      const { searchParams } = await flow.authorize({ resource })
      expect(Object.fromEntries(searchParams), resource).toEqual({
        error: "invalid_target",
        error_description: expect.any(String),
        state: "s",
        iss: berth.url
      })
    }
  })

  it("§2.2, resource swap: authorized for A, exchanged or refreshed for B, is invalid_target", async () => {
    const other = await flow.owner.server(flow.project.id, { name: "Other" })
    const request = await flow.codeRequest()
    const exchange = await flow.token<OAuthErrorBody>({ ...request, resource: other.publicUrl })
    expect([exchange.status, exchange.body.error]).toEqual([400, "invalid_target"])
    const { refresh_token } = (await flow.token(request)).body
    const refresh = await flow.refresh<OAuthErrorBody>(refresh_token, { resource: other.publicUrl })
    expect([refresh.status, refresh.body.error]).toEqual([400, "invalid_target"])
    const door = await flow.refresh<OAuthErrorBody>(refresh_token, { resource: `${berth.url}/mcp` })
    expect(door.body.error).toBe("invalid_target")
    const same = await flow.refresh(refresh_token, { resource: `${flow.server.publicUrl}/` })
    expect(decodeJwt(same.body.access_token).aud).toBe(flow.server.publicUrl)
  })

  it("token of another server: A's token at B is 401", async () => {
    const other = await flow.owner.server(flow.project.id, { name: "Another" })
    const { access_token } = await flow.tokens()
    const at = (url: string) => berth.request("POST", `${new URL(url).pathname}/mcp`, { token: access_token, body: {} })
    expect((await at(other.publicUrl)).status).toBe(401)
    // Let in, and found without a machine.
    expect((await at(flow.server.publicUrl)).status).toBe(503)
  })
})
