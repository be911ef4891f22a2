import { beforeAll, describe, expect, it } from "vitest"
import { type Account, type Listed } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { Flow, newFlow, type OAuthErrorBody, postForm, redirectUri, type TokenBody } from "../support/oauth.ts"
import { authorizePath, PlainBrowser, registerClient } from "../support/pages.ts"
import { runSql } from "../support/sql.ts"

interface Grant {
  readonly id: string
  readonly scopes: ReadonlyArray<string>
}

const berth = useBerth()
let flow: Flow
beforeAll(async () => {
  flow = await newFlow(berth)
})

const grantsOf = async (user: Account) => (await user.get<Listed<Grant>>("/v1/auth/grants")).body

/** One call of a tool at our MCP door. */
const call = async (token: string, name: string, args: unknown) => {
  const answer = await berth.request("POST", "/mcp", {
    token,
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
    headers: { accept: "application/json, text/event-stream" }
  })
  const text = /^data: (.*)$/m.exec(answer.text)?.[1] ?? answer.text
  return (JSON.parse(text) as { result: { isError?: boolean; structuredContent?: unknown } }).result
}

/** The form of the server's address that is not its public URL. */
const otherUrl = () => `http://${flow.server.slug}.mcp.localhost:${new URL(berth.url).port}`

describe("grants", () => {
  it("are asked for by the server's public URL, whichever of its URLs the client named", async () => {
    const browser = new PlainBrowser(berth)
    browser.cookies.set("svc_session", flow.user.token)
    for (const resource of [otherUrl(), flow.server.publicUrl]) {
      const { text } = await browser.go(authorizePath({
        client_id: flow.clientId,
        redirect_uri: redirectUri,
        resource,
        scope: "mcp:read",
        code_challenge: flow.challenge
      }))
      expect(text).toContain(`at ${flow.server.publicUrl.replace("http://", "")}</dd>`)
    }
  })

  it("list what a user allowed which client", async () => {
    await flow.tokens({ scope: "mcp:read offline_access" })
    expect(await grantsOf(flow.user)).toEqual({
      data: [{
        id: expect.stringMatching(/^gra_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
        clientId: flow.clientId,
        clientName: "Menu Reader",
        resource: flow.server.publicUrl,
        serverId: flow.server.id,
        serverName: "Menu",
        scopes: ["mcp:read", "offline_access"],
        createdAt: expect.any(String),
        updatedAt: expect.any(String)
      }],
      meta: { cursor: null, hasMore: false, total: 1 }
    })
    // The server's other URL is the same server.
    await flow.tokens({ resource: otherUrl(), scope: "mcp:write" })
    await flow.tokens({ resource: `${berth.url}/mcp`, scope: "servers:read" })
    const { data } = await grantsOf(flow.user)
    expect(data).toMatchObject([
      { resource: `${berth.url}/mcp`, serverId: null, serverName: null, scopes: ["servers:read"] },
      { resource: flow.server.publicUrl, scopes: ["mcp:read", "mcp:write", "offline_access"] }
    ])
    expect((await grantsOf(flow.owner)).data).toEqual([])
  })

  it("are read page by page", async () => {
    const first = (await flow.user.get<Listed<Grant>>("/v1/auth/grants?limit=1")).body
    expect(first.meta).toEqual({ cursor: expect.any(String), hasMore: true, total: 2 })
    const second = await flow.user.get<Listed<Grant>>(`/v1/auth/grants?limit=1&cursor=${first.meta.cursor}`)
    expect([first.data[0]?.id, second.body.data[0]?.id]).toEqual((await grantsOf(flow.user)).data.map(({ id }) => id))
    expect((await flow.owner.get(`/v1/auth/grants?cursor=${first.meta.cursor}`)).status).toBe(400)
  })

  it("are a session's alone", async () => {
    const key = await flow.owner.holder(flow.project.id)
    expect((await key.get("/v1/auth/grants")).status).toBe(401)
    expect((await key.delete("/v1/auth/grants/gra_00000000000000000000000000")).status).toBe(401)
    expect((await berth.request("GET", "/v1/auth/grants")).status).toBe(401)
  })

  it("end with everything that came of them: codes, refresh tokens and, wherever they are checked, access tokens", async () => {
    const made = await newFlow(berth)
    const [tokens, unused] = [await made.tokens(), await made.codeRequest()]
    const { data: [grant] } = await grantsOf(made.user)
    const at = () =>
      berth.request("POST", `${new URL(made.server.publicUrl).pathname}/mcp`, { token: tokens.access_token, body: {} })
    expect((await at()).status).toBe(503)
    expect((await made.owner.delete(`/v1/auth/grants/${grant!.id}`)).status).toBe(404)
    const revoked = await made.user.delete(`/v1/auth/grants/${grant!.id}`)
    expect([revoked.status, revoked.text]).toEqual([204, ""])
    expect((await made.refresh<OAuthErrorBody>(tokens.refresh_token)).body.error).toBe("invalid_grant")
    expect((await made.token<OAuthErrorBody>(unused)).body.error).toBe("invalid_grant")
    expect((await made.introspect(tokens.access_token)).body).toEqual({ active: false })
    expect((await at()).status).toBe(401)
    expect((await made.user.delete(`/v1/auth/grants/${grant!.id}`)).status).toBe(404)
    for (const id of ["x", "gra_00000000000000000000000000", "%00"]) {
      expect((await made.user.delete(`/v1/auth/grants/${id}`)).status).toBe(404)
    }
    expect(await grantsOf(made.user)).toMatchObject({ data: [], meta: { total: 0 } })
  })

  it("end before the answer that says so, for who asks the same process, however late the database tells of it", async () => {
    const tells = (how: "DISABLE" | "ENABLE") =>
      runSql(berth.databaseUrl, `ALTER TABLE token_families ${how} TRIGGER family_revoked`)
    const made = await newFlow(berth)
    const ends: ReadonlyArray<readonly [how: string, answer: number, end: (tokens: TokenBody) => Promise<number>]> = [
      ["the grant is revoked", 204, async () => {
        const { data: [grant] } = await grantsOf(made.user)
        return (await made.user.delete(`/v1/auth/grants/${grant!.id}`)).status
      }],
      [
        "its client revokes the token",
        200,
        async ({ access_token: token }) =>
          (await postForm(berth, "/api/v1/oauth/revoke", { client_id: made.clientId, token })).status
      ],
      ["a refresh token comes again", 400, async ({ refresh_token: first }) => {
        const { body } = await made.refresh(first)
        await made.refresh(body.refresh_token)
        return (await made.refresh(first)).status
      }],
      ["a code comes again", 400, async () => (await made.token(again)).status]
    ]
    let again: Readonly<Record<string, string>> = {}
    await tells("DISABLE")
    try {
      for (const [how, answer, end] of ends) {
        again = await made.codeRequest()
        const { body: tokens } = await made.token(again)
        const at = async () =>
          (await berth.request("POST", `${new URL(made.server.publicUrl).pathname}/mcp`, {
            token: tokens.access_token,
            body: {}
          })).status
        expect([await at(), await end(tokens), await at()], how).toEqual([503, answer, 401])
      }
    } finally {
      await tells("ENABLE")
    }
  })

  it("given once are not asked for again; revoked, they are, and then stand for what was given anew", async () => {
    const made = await newFlow(berth)
    const path = authorizePath({
      client_id: made.clientId,
      redirect_uri: redirectUri,
      resource: made.server.publicUrl,
      scope: "mcp:read"
    })
    const browser = new PlainBrowser(berth)
    browser.cookies.set("svc_session", made.user.token)
    expect((await browser.go(path)).status).toBe(200)
    await made.tokens()
    expect((await browser.go(path)).headers.get("location")).toMatch(/^https:\/\/client\.example\/callback\?code=/)
    const { data: [grant] } = await grantsOf(made.user)
    await made.user.delete(`/v1/auth/grants/${grant!.id}`)
    expect((await browser.go(path)).status).toBe(200)
    await browser.submit({ decision: "allow" })
    expect((await grantsOf(made.user)).data).toMatchObject([{ scopes: ["mcp:read"] }])
  })

  it("are listed and revoked by tools, for a session and for a client with the scope account", async () => {
    const made = await newFlow(berth)
    await made.tokens()
    const listed = await call(made.user.token, "list_grants", {})
    expect(listed.structuredContent).toEqual(await grantsOf(made.user))
    const door = `${berth.url}/mcp`
    const weak = await made.tokens({ resource: door, scope: "servers:read" })
    expect(await call(weak.access_token, "list_grants", {})).toMatchObject({ isError: true })
    const strong = await made.tokens({ resource: door, scope: "account" })
    const { data } = await grantsOf(made.user)
    const { id } = data.find(({ scopes }) => scopes.includes("mcp:read"))!
    expect((await call(strong.access_token, "revoke_grant", { grantId: id })).isError).toBeUndefined()
    expect((await grantsOf(made.user)).data).toHaveLength(1)
  })

  it("go with the server", async () => {
    const made = await newFlow(berth)
    const tokens = await made.tokens()
    expect((await made.owner.delete(`/v1/servers/${made.server.id}`)).status).toBe(204)
    expect((await grantsOf(made.user)).data).toEqual([])
    expect((await made.refresh<OAuthErrorBody>(tokens.refresh_token)).body.error).toBe("invalid_grant")
  })

  it("of a program on the user's device end with its last tokens, and not while a key of it is left", async () => {
    const made = await newFlow(berth)
    const redirect_uri = "http://127.0.0.1/callback"
    const clientId = await registerClient(berth, "Command line", redirect_uri)
    const program = new Flow({ ...made, clientId })
    const tokens = async () => {
      const request = await program.codeRequest({ redirect_uri, resource: `${berth.url}/v1`, scope: "account" })
      return (await program.token({ ...request, redirect_uri })).body.access_token
    }
    const end = async (token: string) => {
      const revoked = await postForm(berth, "/api/v1/oauth/revoke", { token, client_id: clientId })
      expect(revoked.status).toBe(200)
      return (await grantsOf(made.user)).meta.total
    }
    const [first, second] = [await tokens(), await tokens()]
    expect([await end(first), await end(second)]).toEqual([1, 0])
    const third = await tokens()
    const { id } = await made.user.project()
    const body = { name: "of the program", scopes: ["servers:read"] }
    const key = await berth.request<{ data: { id: string } }>("POST", `/v1/projects/${id}/keys`, { token: third, body })
    expect(key.status).toBe(201)
    expect(await end(third)).toBe(1)
    expect((await made.user.delete(`/v1/keys/${key.body.data.id}`)).status).toBe(204)
    expect(await end(await tokens())).toBe(0)
  })

  it("of a web page outlive its tokens: they say what needs no consent again", async () => {
    const made = await newFlow(berth)
    const token = (await made.tokens()).access_token
    await postForm(berth, "/api/v1/oauth/revoke", { token, client_id: made.clientId })
    expect((await grantsOf(made.user)).meta.total).toBe(1)
  })
})
