import { decodeJwt } from "jose"
import { describe, expect, it } from "vitest"
import { type Listed } from "../support/account.ts"
import { callTool } from "../support/mcp.ts"
import { newFlow, postForm, replayToken } from "../support/oauth.ts"
import { type Answer, bySlug, change, look, useThreeMembers } from "./three-members.ts"

const three = useThreeMembers()
const { ask, berth, compositeOf, members, servers, slugOf, withClient } = three

describe("tokens", () => {
  const tokensSeen = () =>
    servers.map(({ seen }) => {
      const sent = seen.flatMap(({ headers }) => headers.authorization ?? [])
      return sent.at(-1)!.replace("Bearer ", "")
    })

  it("never are the caller's: members receive nothing of it", async () => {
    const flow = await newFlow(berth)
    const own = await compositeOf(members, flow.user)
    const { access_token } = await flow.tokens({ resource: `${berth.url}${own}` })
    const tokens = [[three.caller.token], [three.key.token], [access_token, own]] as const
    for (const [token, at] of tokens) {
      const before = servers.map(({ seen }) => seen.length)
      await withClient((client) => callTool(client, "look"), token, at)
      for (const [i, { seen }] of servers.entries()) {
        expect(seen.length).toBeGreaterThan(before[i]!)
        const all = JSON.stringify(seen)
        for (const [token] of tokens) expect(all).not.toContain(token)
      }
    }
  })

  it("are for one member: another refuses it, and so does the platform", async () => {
    await ask()
    const tokens = tokensSeen()
    expect(new Set(tokens).size).toBe(3)
    for (const [i, token] of tokens.entries()) {
      for (const [j, { server }] of members.entries()) {
        const answer = await berth.request("POST", `/s/${server.slug}/mcp`, {
          token,
          headers: { accept: "application/json, text/event-stream" },
          body: { jsonrpc: "2.0", id: 1, method: "ping" }
        })
        if (i === j) expect(answer.status).not.toBe(401)
        else expect(answer.status).toBe(401)
      }
      for (const at of ["/mcp", three.path, "/v1/projects"]) {
        const message = { jsonrpc: "2.0", id: 1, method: "ping" }
        const headers = { accept: "application/json, text/event-stream" }
        const answer = await berth.request(at === "/v1/projects" ? "GET" : "POST", at, {
          token,
          headers,
          ...(at === "/v1/projects" ? {} : { body: message })
        })
        expect(answer.status, at).toBe(401)
      }
    }
  })

  it("say who acts for the account (RFC 8693), also when the member asks; what the account's own client gets does not", async () => {
    const acting = { client_id: "berth-composites", act: { iss: berth.url, sub: "berth-composites" } }
    const introspected = async (token: string, serverId: string) =>
      (await postForm(berth, "/api/v1/oauth/introspect", { token }, { token: await replayToken(berth, serverId) })).body
    for (const { token: mine } of [three.caller, three.key]) {
      await ask({}, mine)
      const [token] = tokensSeen()
      const { id, publicUrl } = members[0]!.server
      const claims = { ...acting, sub: three.caller.id, aud: publicUrl }
      expect(decodeJwt(token!)).toMatchObject(claims)
      expect(await introspected(token!, id)).toMatchObject({ active: true, ...claims })
    }
    const { id } = members[0]!.server
    const made = await three.owner.post<{ data: { accessToken: string } }>(`/v1/servers/${id}/test-token`, {})
    const { accessToken } = made.body.data
    expect(decodeJwt(accessToken)).not.toHaveProperty("act")
    expect(await introspected(accessToken, id)).not.toHaveProperty("act")
  })

  it("come of a grant of the account, which lists and revokes it; then the member is not asked", async () => {
    const mine = await berth.signUp()
    const at = await compositeOf(members, mine)
    const answers = () =>
      withClient(
        async (client) =>
          ((await callTool(client, "look")).structuredContent as { answers: ReadonlyArray<Answer> }).answers,
        mine.token,
        at
      )
    await Promise.all([answers(), answers()])
    interface Grant {
      readonly id: string
      readonly clientId: string
      readonly clientName: string
      readonly serverId: string
      readonly resource: string
    }
    const grants = async () => (await mine.get<Listed<Grant>>("/v1/auth/grants")).body.data
    expect((await grants()).map(({ clientId, clientName, serverId }) => [clientId, clientName, serverId]).sort())
      .toEqual(
        members.map(({ server }) => ["berth-composites", "Composites", server.id]).sort()
      )
    const [first] = (await grants()).filter(({ serverId }) => serverId === members[0]!.server.id)
    expect(first!.resource).toBe(members[0]!.server.publicUrl)
    const old = tokensSeen()[0]!
    expect((await mine.delete(`/v1/auth/grants/${first!.id}`)).status).toBe(204)
    const after = bySlug(await answers())
    expect(after.get(slugOf(0))).toMatchObject({
      status: "error",
      code: "member_revoked",
      message: expect.stringContaining("was revoked")
    })
    expect(after.get(slugOf(1))).toMatchObject({ status: "ok" })
    await expect.poll(
      async () => (await berth.request("POST", `/s/${members[0]!.server.slug}/mcp`, { token: old, body: {} })).status,
      { timeout: 10_000 }
    ).toBe(401)
    expect((await grants()).map(({ serverId }) => serverId)).not.toContain(members[0]!.server.id)
    // Where the revoked one is told, with what renews it.
    const list = () => withClient((client) => callTool(client, "composite_members"), mine.token, at)
    const members0 = (callable: object) => ({
      structuredContent: {
        members: expect.arrayContaining([expect.objectContaining({ slug: slugOf(0), ...callable })])
      }
    })
    expect(await list()).toMatchObject(members0({
      callable: false,
      code: "member_revoked",
      grantId: first!.id,
      reason: expect.stringContaining(`POST /v1/auth/grants/${first!.id}/renew`)
    }))
    expect((await mine.post(`/v1/auth/grants/${first!.id}/renew`, {})).status).toBe(200)
    expect(await list()).toMatchObject(members0({ callable: true }))
    expect(bySlug(await answers()).get(slugOf(0))).toMatchObject({ status: "ok" })
    // Another account's stays.
    expect(bySlug(await ask()).get(slugOf(0))).toMatchObject({ status: "ok" })
  })

  it("are recorded with the scopes that they have: a token for the composite with more widens the grants", async () => {
    const flow = await newFlow(berth)
    const at = await compositeOf(members, flow.user)
    const scopesAfter = async (scope: string) => {
      const { access_token } = await flow.tokens({ resource: `${berth.url}${at}`, scope })
      await withClient((client) => callTool(client, "look"), access_token, at)
      expect(decodeJwt(tokensSeen()[0]!)["scope"]).toBe(scope)
      const { body } = await flow.user.get<Listed<{ clientId: string; scopes: unknown }>>("/v1/auth/grants")
      return body.data.filter(({ clientId }) => clientId === "berth-composites").map(({ scopes }) => scopes)
    }
    for (const scope of ["mcp:read mcp:execute", "mcp:read mcp:write mcp:execute"]) {
      expect(await scopesAfter(scope)).toEqual(Array.from({ length: 3 }, () => scope.split(" ")))
    }
  })
})

describe("a token for the composite", () => {
  it("that is too little for a message is 403, with what to ask for, as at a member; no member is asked", async () => {
    const flow = await newFlow(berth)
    const at = await compositeOf(members, flow.user)
    const challenge = (scopes: string) =>
      `Bearer error="insufficient_scope", scope="${scopes}", ` +
      `resource_metadata="${berth.url}/.well-known/oauth-protected-resource${at}"`
    const send = async (scope: string, body: unknown) => {
      const { access_token: token } = await flow.tokens({ resource: `${berth.url}${at}`, scope })
      const headers = { accept: "application/json, text/event-stream" }
      const answer = await berth.request("POST", at, { token, headers, body })
      return [answer.status, answer.headers.get("www-authenticate"), answer.body] as const
    }
    const call = (name: string, args = {}) => ({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: args }
    })
    const list = { jsonrpc: "2.0", id: 1, method: "resources/templates/list" }
    const calls = () => servers.flatMap(({ seen }) => seen.filter(({ body }) => body.includes("tools/call"))).length
    const before = calls()
    const tooLittle: ReadonlyArray<readonly [string, unknown, string]> = [
      ["mcp:read", call("look"), "mcp:read mcp:execute"],
      ["mcp:write", call("composite_members"), "mcp:read mcp:write"],
      ["mcp:execute", list, "mcp:read mcp:execute"],
      ["mcp:read", { ...list, method: "odd" }, "mcp:read mcp:execute"],
      // Nobody marks it as state-changing, so that members take it for anything.
      ["mcp:read mcp:write", call("change"), "mcp:read mcp:write mcp:execute"],
      ["mcp:read mcp:write", call("call_tool", { name: "look" }), "mcp:read mcp:write mcp:execute"]
    ]
    for (const [scope, body, wanted] of tooLittle) {
      expect(await send(scope, body), JSON.stringify([scope, body])).toEqual([403, challenge(wanted), {
        error: { code: "forbidden", message: `The access token's scopes do not allow this; it takes ${wanted}` }
      }])
    }
    expect(calls()).toBe(before)
    for (
      const [scope, body] of [
        ["mcp:read", list],
        ["mcp:read", call("composite_members")],
        ["mcp:read", call("find_tools", { query: "look" })],
        ["mcp:execute", call("composite_members")]
      ] as const
    ) expect(await send(scope, body), JSON.stringify([scope, body])).toMatchObject([200, null, { id: 1 }])
    expect(await send("mcp:execute", call("look"))).toMatchObject([200, null, {
      result: { structuredContent: { answers: [{ status: "ok" }, { status: "ok" }, { status: "ok" }] } }
    }])
  })

  it("with mcp:write calls what every member marks as state-changing, also by call_tool", async () => {
    const marked = (name: string, readOnlyHint: boolean) => ({ ...change, name, annotations: { readOnlyHint } })
    for (const [at, server] of servers.entries()) {
      server.tools = [look, change, marked("order", false), marked("mixed", at > 0)]
      await three.live.list(berth, members[at]!)
    }
    const flow = await newFlow(berth)
    const at = await compositeOf(members, flow.user)
    const { access_token } = await flow.tokens({ resource: `${berth.url}${at}`, scope: "mcp:read mcp:write" })
    await withClient(
      async (client) => {
        const answers = [{ status: "ok" }, { status: "ok" }, { status: "ok" }]
        for (const [tool, args] of [["order", {}], ["call_tool", { name: "order" }]] as const) {
          expect(await callTool(client, tool, args)).toMatchObject({ structuredContent: { answers } })
        }
        await expect(callTool(client, "mixed")).rejects.toMatchObject({ code: 403 })
      },
      access_token,
      at
    )
    for (const [at, server] of servers.entries()) {
      server.tools = [look, change]
      await three.live.list(berth, members[at]!)
    }
  })
})

describe("the door", () => {
  it("is closed without a credential, says where to get one, and knows only what its caller may read", async () => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list" }
    const headers = { accept: "application/json, text/event-stream" }
    const anonymous = await berth.request("POST", three.path, { body: message, headers })
    expect(anonymous.status).toBe(401)
    expect(anonymous.headers.get("www-authenticate")).toContain(
      `resource_metadata="${berth.url}/.well-known/oauth-protected-resource${three.path}"`
    )
    expect(await berth.request("GET", `/.well-known/oauth-protected-resource${three.path}`)).toMatchObject({
      status: 200,
      body: {
        resource: `${berth.url}${three.path}`,
        scopes_supported: ["mcp:read", "mcp:write", "mcp:execute", "offline_access"]
      }
    })
    expect((await berth.request("GET", "/.well-known/oauth-protected-resource/mcp/composites/x")).status).toBe(404)
    const stranger = await berth.signUp()
    expect((await stranger.request("POST", three.path, { body: message, headers })).status).toBe(404)
    expect(
      (await stranger.request("POST", "/mcp/composites/01HZZZZZZZZZZZZZZZZZZZZZZZ", { body: message, headers })).status
    )
      .toBe(404)
    expect((await stranger.request("POST", "/mcp/composites/x", { body: message, headers })).status).toBe(400)
    const { key: platformKey } = await three.caller.key((await three.caller.project()).id)
    expect((await berth.request("POST", three.path, { token: platformKey, body: message, headers })).status).toBe(401)
    expect((await three.caller.request("GET", three.path)).status).toBe(405)
    expect((await three.caller.request("DELETE", three.path)).status).toBe(405)
  })
})
