import { decodeJwt } from "jose"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { berthCli } from "../cli/mcp/run.ts"
import { useThreeMembers } from "../composites/three-members.ts"
import { callTool, connectMcp } from "../support/mcp.ts"
import { newFlow, postForm, replayToken } from "../support/oauth.ts"
import { temporaryDirectory } from "../support/Settings.ts"
import { exchanging, fieldsOf, tokenType } from "./support/exchange.ts"

const three = useThreeMembers()
const { berth, members } = three

const { exchange, grantsOf, tokenFor } = exchanging(berth)

const look = async (token: string, i = 0) => {
  const client = await connectMcp(berth.url, { token, path: `/s/${members[i]!.server.slug}/mcp` })
  try {
    return await callTool(client, "look")
  } finally {
    await client.close()
  }
}
const statusAt = async (path: string, token: string, method = "tools/list") =>
  (await berth.request("POST", path, {
    token,
    headers: { accept: "application/json, text/event-stream" },
    body: { jsonrpc: "2.0", id: 1, method, ...(method === "tools/call" ? { params: { name: "look" } } : {}) }
  })).status
/** An access token for our own MCP endpoint, and the flow that it comes of. */
const clientToken = async (scope: string) => {
  const flow = await newFlow(berth)
  const { access_token } = await flow.tokens({ resource: `${berth.url}/mcp`, scope })
  return { flow, token: access_token }
}

describe("an exchanged token", () => {
  it("is for one server, within the account's name: by a session, a hub key, or a client with the scope account", async () => {
    const { flow, token } = await clientToken("account")
    const { publicUrl, slug } = members[0]!.server
    for (
      const [subject, accountId] of [
        [three.caller.token, three.caller.id],
        [three.key.token, three.caller.id],
        [token, flow.user.id]
      ] as const
    ) {
      const { body, headers, status } = await exchange(fieldsOf(subject, `${publicUrl}/mcp`))
      expect([status, headers.get("cache-control")]).toEqual([200, "no-store"])
      expect(body).toEqual({
        access_token: expect.any(String),
        issued_token_type: tokenType,
        token_type: "Bearer",
        expires_in: expect.any(Number),
        scope: "mcp:read mcp:write mcp:execute"
      })
      expect(body.expires_in).toBeGreaterThan(890)
      const claims = decodeJwt(body.access_token)
      expect(claims).toMatchObject({ aud: publicUrl, sub: accountId, client_id: "berth-token-exchange" })
      expect(claims).not.toHaveProperty("act")
      expect(await look(body.access_token)).toMatchObject({ content: expect.any(Array) })
      const { body: introspected } = await postForm<object>(
        berth,
        "/api/v1/oauth/introspect",
        { token: body.access_token },
        { token: await replayToken(berth, members[0]!.server.id) }
      )
      expect(introspected).toMatchObject({ active: true, aud: publicUrl })
      expect(introspected).not.toHaveProperty("par")
      for (const path of [`/s/${members[1]!.server.slug}/mcp`, "/mcp", three.path]) {
        expect(await statusAt(path, body.access_token), path).toBe(401)
      }
      expect(await statusAt(`/s/${slug}/mcp`, subject)).toBe(401)
    }
  })

  it("has the scopes that were asked for, and no more", async () => {
    const { publicUrl, slug } = members[0]!.server
    const token = await tokenFor(three.caller.token, publicUrl, "mcp:read offline_access servers:write")
    expect(decodeJwt(token)["scope"]).toBe("mcp:read")
    expect(await statusAt(`/s/${slug}/mcp`, token, "tools/call")).toBe(403)
    expect(await exchange({ ...fieldsOf(three.caller.token, publicUrl), scope: "servers:write" }))
      .toMatchObject({ status: 400, body: { error: "invalid_scope" } })
  })

  it("is recorded with the scopes that were given: an exchange for more widens the grant, one for fewer leaves it", async () => {
    const mine = await berth.signUp()
    const { publicUrl, slug } = members[0]!.server
    const scopesAfter = async (scope?: string) => {
      await tokenFor(mine.token, publicUrl, scope)
      const grants = await grantsOf(mine)
      expect(grants.length).toBe(1)
      return grants[0]!.scopes
    }
    expect(await scopesAfter("mcp:read")).toEqual(["mcp:read"])
    await Promise.all(["mcp:execute", "mcp:read"].map((scope) => tokenFor(mine.token, publicUrl, scope)))
    expect(await scopesAfter("mcp:read")).toEqual(["mcp:read", "mcp:execute"])
    const narrow = await tokenFor(mine.token, publicUrl, "mcp:read")
    expect(await scopesAfter()).toEqual(["mcp:read", "mcp:write", "mcp:execute"])
    expect(await statusAt(`/s/${slug}/mcp`, narrow, "tools/call")).toBe(403)
  })

  it("comes of one grant, however many ask at once; revoked, it ends at once, and none is given until it is renewed", async () => {
    const mine = await berth.signUp()
    const { id, publicUrl, slug } = members[1]!.server
    const tokens = await Promise.all(Array.from({ length: 5 }, () => tokenFor(mine.token, publicUrl)))
    const [grant, another] = await grantsOf(mine)
    expect(another).toBeUndefined()
    expect(grant).toMatchObject({ clientName: "Token exchange", serverId: id })
    expect((await mine.delete(`/v1/auth/grants/${grant!.id}`)).status).toBe(204)
    for (const token of tokens) {
      await expect.poll(() => statusAt(`/s/${slug}/mcp`, token), { timeout: 10_000 }).toBe(401)
    }
    const refused = await exchange(fieldsOf(mine.token, publicUrl))
    expect(refused).toMatchObject({ status: 400, body: { error: "invalid_target" } })
    expect(refused.body.error_description).toContain(`/v1/auth/grants/${grant!.id}/renew`)
    expect((await mine.post(`/v1/auth/grants/${grant!.id}/renew`, {})).status).toBe(200)
    expect(await statusAt(`/s/${slug}/mcp`, await tokenFor(mine.token, publicUrl))).not.toBe(401)
  })

  it("ends with the token that it was exchanged for", async () => {
    const { flow, token } = await clientToken("account")
    const { id, publicUrl, slug } = members[0]!.server
    const exchanged = await tokenFor(token, publicUrl)
    expect(await statusAt(`/s/${slug}/mcp`, exchanged)).not.toBe(401)
    const own = (await grantsOf(flow.user)).find(({ clientName }) => clientName === "Menu Reader")
    expect((await flow.user.delete(`/v1/auth/grants/${own!.id}`)).status).toBe(204)
    await expect.poll(() => statusAt(`/s/${slug}/mcp`, exchanged), { timeout: 10_000 }).toBe(401)
    const asked = { token: await replayToken(berth, id) }
    expect((await postForm(berth, "/api/v1/oauth/introspect", { token: exchanged }, asked)).body)
      .toEqual({ active: false })
    expect(await exchange(fieldsOf(token, publicUrl))).toMatchObject({
      status: 400,
      body: { error: "invalid_request" }
    })
  })
})

describe("an exchange", () => {
  it("is refused for what is no credential here", async () => {
    const { publicUrl } = members[0]!.server
    const exchanged = await tokenFor(three.caller.token, publicUrl)
    const { key: platformKey } = await three.caller.key((await three.caller.project()).id)
    const { token: narrow } = await clientToken("servers:read")
    const ended = await berth.signUp()
    await ended.post("/v1/auth/logout", {})
    for (
      const subject of [
        exchanged,
        platformKey,
        narrow,
        ended.token,
        "svc_sess_x",
        `hub_live_${"x".repeat(36)}`,
        "a.b.c",
        "\0",
        "ä"
      ]
    ) {
      const answer = await exchange(fieldsOf(subject, publicUrl))
      expect(answer, subject).toMatchObject({ status: 400, body: { error: "invalid_request" } })
      expect(answer.body.error_description).toMatch(/^subject_token: [\x20-\x7e]+$/)
    }
  })

  it("is refused for a resource that is no server here, or not everybody's", async () => {
    const { token } = three.caller
    const host = "https://example.com"
    for (
      const resource of [host, `${berth.url}/mcp`, `${berth.url}/s/nobody`, "x", `${berth.url}/s/a/../b`, `${host}/mcp`]
    ) {
      expect(await exchange(fieldsOf(token, resource)), resource)
        .toMatchObject({ status: 400, body: { error: "invalid_target" } })
    }
    const project = await three.caller.project()
    const own = await three.caller.server(project.id)
    const set = (body: object) => three.caller.put(`/v1/servers/${own.id}/auth`, body)
    expect((await set({ authMode: "service_managed", access: "owner" })).status).toBe(200)
    expect((await exchange(fieldsOf(token, own.publicUrl))).status).toBe(200)
    for (const subject of [three.key.token, three.owner.token]) {
      expect(await exchange(fieldsOf(subject, own.publicUrl)))
        .toMatchObject({ status: 400, body: { error: "invalid_target" } })
    }
  })

  it("is refused for a form that is not one of RFC 8693 as it is spoken here", async () => {
    const good = fieldsOf(three.caller.token, members[0]!.server.publicUrl)
    const wrong: ReadonlyArray<readonly [string, Readonly<Record<string, string>>]> = [
      ["invalid_request", { subject_token: "" }],
      ["invalid_request", { subject_token_type: "" }],
      ["invalid_request", { subject_token_type: "urn:ietf:params:oauth:token-type:saml2" }],
      ["invalid_request", { requested_token_type: "urn:ietf:params:oauth:token-type:refresh_token" }],
      ["invalid_request", { actor_token: "x" }],
      ["invalid_request", { resource: "" }],
      ["invalid_target", { audience: members[1]!.server.publicUrl }],
      ["invalid_client", { client_secret: "x" }]
    ]
    for (const [error, fields] of wrong) {
      expect((await exchange({ ...good, ...fields })).body.error, JSON.stringify(fields)).toBe(error)
    }
    const twice = new URLSearchParams(good)
    twice.append("subject_token", "x")
    expect((await exchange(twice)).body.error).toBe("invalid_request")
    const { resource: _resource, ...withoutResource } = good
    expect((await exchange({ ...withoutResource, audience: good.resource })).status).toBe(200)
    expect(
      (await berth.request<{ grant_types_supported: unknown }>("GET", "/.well-known/oauth-authorization-server"))
        .body.grant_types_supported
    ).toContain(good.grant_type)
  })
})

describe("an agent without a browser", () => {
  it("gets the same token by a tool, from a session or a hub key, and calls the server", async () => {
    for (const { token } of [three.caller, three.key]) {
      const client = await connectMcp(berth.url, { token })
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain("create_server_token")
      const { structuredContent } = await callTool(client, "create_server_token", {
        resource: members[2]!.server.publicUrl,
        scope: "mcp:read mcp:execute"
      })
      expect(structuredContent).toMatchObject({ resource: members[2]!.server.publicUrl, scope: "mcp:read mcp:execute" })
      expect(await look((structuredContent as { accessToken: string }).accessToken, 2)).toMatchObject({})
      const refused = await callTool(client, "create_server_token", { resource: "https://example.com" })
      expect([refused.isError, JSON.stringify(refused)]).toEqual([true, expect.stringContaining("NOT_FOUND")])
      await client.close()
    }
  })

  it("is a terminal, too: berth tools and berth call use the session, at both addresses of a server", async () => {
    const config = temporaryDirectory("exchange")
    mkdirSync(join(config, "berth"))
    writeFileSync(join(config, "berth/credentials.json"), JSON.stringify({ [berth.url]: three.caller.token }))
    const { publicUrl, slug } = members[0]!.server
    const { port } = new URL(berth.url)
    for (const url of [`${publicUrl}/mcp`, `http://${slug}.mcp.localhost:${port}/mcp`]) {
      const listed = await berthCli(["tools", url], { XDG_CONFIG_HOME: config })
      expect([listed.code, listed.out], listed.err).toEqual([0, expect.stringContaining("look")])
      expect((await berthCli(["call", url, "look"], { XDG_CONFIG_HOME: config })).code).toBe(0)
    }
    const nowhere = await berthCli(["tools", `${berth.url}/s/nobody/mcp`], { XDG_CONFIG_HOME: config })
    expect([nowhere.code, nowhere.err]).toEqual([4, expect.stringContaining("No server of this platform has this URL")])
    expect(three.servers.flatMap(({ seen }) => JSON.stringify(seen)).join()).not.toContain(three.caller.token)
  })

  it("asks for no more than its command needs, and takes a server's publicUrl as its endpoint; connect asks first", async () => {
    const mine = await berth.signUp()
    const config = temporaryDirectory("exchange-scopes")
    mkdirSync(join(config, "berth"))
    writeFileSync(join(config, "berth/credentials.json"), JSON.stringify({ [berth.url]: mine.token }))
    const run = (...args: ReadonlyArray<string>) => berthCli(args, { XDG_CONFIG_HOME: config })
    const { publicUrl, slug } = members[0]!.server
    const scopes = async () => (await grantsOf(mine)).map((grant) => grant.scopes)
    expect(await run("connect", publicUrl, "--json")).toMatchObject({
      code: 0,
      out: expect.stringContaining(`${publicUrl}/mcp`)
    })
    expect(await scopes()).toEqual([])
    expect(await run("tools", publicUrl)).toMatchObject({ code: 0, out: expect.stringContaining("look") })
    expect(await scopes()).toEqual([["mcp:read"]])
    expect((await run("call", `${publicUrl}/`, "look")).code).toBe(0)
    expect(await scopes()).toEqual([["mcp:read", "mcp:execute"]])
    const host = `http://${slug}.mcp.localhost:${new URL(berth.url).port}`
    expect((await run("tools", host)).code).toBe(0)
    const before = readdirSync(".")
    for (const nowhere of [`${berth.url}/s/nope`, `${berth.url}/s/nope/sse`, `${berth.url}/nope`]) {
      expect(await run("connect", nowhere, "--cursor", "--write"), nowhere).toEqual({
        code: 4,
        out: "",
        err: expect.stringContaining("No server of this platform has this URL")
      })
    }
    expect(readdirSync(".")).toEqual(before)
  })
})
