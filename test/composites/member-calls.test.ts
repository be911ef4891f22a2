import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Account, dataOf, type Holder, type Listed } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { businesses } from "../support/business.ts"
import { compose, hubKey } from "../support/composites.ts"
import { type LiveMember, LiveMembers } from "../support/live-members.ts"
import { startMember, type TestMember, type TestTool } from "../support/mcp-member.ts"
import { callTool, connectMcp, textOf } from "../support/mcp.ts"

const live = new LiveMembers()
const berth = useBerth({ machines: live.machines })

const schema = { type: "object", properties: { q: { type: "string" } } } as const
const look: TestTool = { name: "look", description: "Looks.", inputSchema: schema, annotations: { readOnlyHint: true } }
const change: TestTool = { name: "change", description: "Changes.", inputSchema: schema }
const names = ["anna", "bert", "cleo"] as const

interface Answer {
  readonly slug: string
  readonly status: string
  readonly result?: unknown
  readonly message?: string
}

let owner: Account
let caller: Account
let key: Holder
const servers: Array<TestMember> = []
const members: Array<LiveMember> = []
let path = ""

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  caller = await berth.signUp("enterprise")
  key = await hubKey(berth, caller)
  for (const name of names) {
    const server = await startMember(name, [look, change])
    servers.push(server)
    members.push(await live.add(berth, owner, name, server.url))
  }
  path = await compositeOf(members)
})
afterAll(() => servers.forEach(({ stop }) => stop()))

const compositeOf = async (list: ReadonlyArray<LiveMember>, holder: Holder = caller) => {
  const { id } = await compose(holder, {
    name: "All",
    query_definition: { listing_ids: list.map(({ business }) => business.listingId) }
  })
  return `/mcp/composites/${id}`
}

const connect = (token = caller.token, at = path) => connectMcp(berth.url, { token, path: at })

const withClient = async <A>(
  run: (client: Awaited<ReturnType<typeof connect>>) => Promise<A>,
  token?: string,
  at?: string
) => {
  const client = await connect(token, at)
  try {
    return await run(client)
  } finally {
    await client.close()
  }
}

const ask = (args: Readonly<Record<string, unknown>> = {}, token?: string, tool = "look") =>
  withClient(async (client) => {
    const { structuredContent } = await callTool(client, tool, args)
    return (structuredContent as { answers: ReadonlyArray<Answer> }).answers
  }, token)

const slugOf = (i: number) => members[i]!.slug
const bySlug = (answers: ReadonlyArray<Answer>) => new Map(answers.map((one) => [one.slug, one]))

describe("who is asked", () => {
  it("is everybody, or those named", async () => {
    expect((await ask()).map(({ status }) => status)).toEqual(["ok", "ok", "ok"])
    expect(await ask({ businesses: [slugOf(1)] })).toEqual([{ slug: slugOf(1), status: "ok", result: "bert: look" }])
    expect(await ask({ businesses: slugOf(0) })).toHaveLength(1)
  })

  it("is nobody unknown: the error says who is there", async () => {
    for (
      const [businesses, message] of [
        [["nobody"], /no business with this tool is called "nobody"; there are /],
        [[], /must have 1 to 10 entries/],
        [Array.from({ length: 11 }, (_, i) => `b${i}`), /must have 1 to 10 entries/],
        [7, /must be a list of slugs/]
      ] as const
    ) {
      const result = await withClient((client) => callTool(client, "look", { businesses }))
      expect(result.isError).toBe(true)
      expect(textOf(result)).toMatchObject({ error: { message: expect.stringMatching(message) } })
    }
  })

  it("is told, and the rest of the arguments, and nothing else", async () => {
    servers[0]!.answer = (_, args) => JSON.stringify(args)
    expect(await ask({ q: "x", businesses: [slugOf(0)] })).toMatchObject([{ result: "{\"q\":\"x\"}" }])
    servers[0]!.answer = (tool) => `anna: ${tool}`
  })
})

describe("tokens", () => {
  const tokensSeen = () =>
    servers.map(({ seen }) => {
      const sent = seen.flatMap(({ headers }) => headers.authorization ?? [])
      return sent.at(-1)!.replace("Bearer ", "")
    })

  it("never are the caller's: members receive nothing of it", async () => {
    for (const token of [caller.token, key.token]) await ask({}, token)
    for (const { seen } of servers) {
      expect(seen.length).toBeGreaterThan(0)
      const all = JSON.stringify(seen)
      for (const token of [caller.token, key.token]) expect(all).not.toContain(token)
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
      for (const at of ["/mcp", path, "/v1/projects"]) {
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
    expect(after.get(slugOf(0))).toMatchObject({ status: "error", message: expect.stringContaining("was revoked") })
    expect(after.get(slugOf(1))).toMatchObject({ status: "ok" })
    await expect.poll(async () =>
      (await berth.request("POST", `/s/${members[0]!.server.slug}/mcp`, { token: old, body: {} })).status
    ).toBe(401)
    expect((await grants()).map(({ serverId }) => serverId)).not.toContain(members[0]!.server.id)
    // Another account's stays.
    expect(bySlug(await ask()).get(slugOf(0))).toMatchObject({ status: "ok" })

    expect((await caller.post(`/v1/auth/grants/${first!.id}/renew`, {})).status).toBe(404)
    expect((await mine.request("POST", `/v1/auth/grants/${first!.id}/renew`)).status).toBe(200)
    expect(bySlug(await answers()).get(slugOf(0))).toMatchObject({ status: "ok" })
  })
})

describe("a member that", () => {
  it("has lost the session is asked in a new one", async () => {
    await ask()
    servers.forEach(({ forget }) => forget())
    expect((await ask()).map(({ status }) => status)).toEqual(["ok", "ok", "ok"])
  })

  it("is silent times out alone, and after three times is not asked for a while", async () => {
    const patient = await berth.signUp()
    const at = await compositeOf(members, patient)
    const once = (token = patient.token, where = at) =>
      withClient(
        async (client) => {
          const started = performance.now()
          const { structuredContent } = await callTool(client, "look")
          const answers = bySlug((structuredContent as { answers: ReadonlyArray<Answer> }).answers)
          return { answers, took: performance.now() - started }
        },
        token,
        where
      )
    servers[2]!.answer = () => new Promise(() => undefined)
    const slow = await Promise.all([once(), once(), once()])
    for (const { answers, took } of slow) {
      expect(took).toBeLessThan(6_000)
      expect(answers.get(slugOf(2))).toEqual({
        slug: slugOf(2),
        status: "timeout",
        message: "no answer within 3 seconds"
      })
      expect(answers.get(slugOf(0))).toMatchObject({ status: "ok" })
    }
    const rested = await once()
    expect(rested.took).toBeLessThan(2_000)
    expect(rested.answers.get(slugOf(2))).toMatchObject({
      status: "error",
      message: expect.stringMatching(/not asked for \d+ seconds/)
    })
    servers[2]!.answer = (tool) => `cleo: ${tool}`
    // Of other accounts it is asked; and of this one again when it has rested.
    expect((await once(caller.token, path)).answers.get(slugOf(2))).toMatchObject({ status: "ok" })
    berth.advance(31_000)
    expect((await once()).answers.get(slugOf(2))).toMatchObject({ status: "ok" })
  }, 30_000)

  it("dies in the middle of a call is one line of the answer", async () => {
    servers[1]!.answer = () => {
      servers[1]!.http.closeAllConnections()
      return new Promise(() => undefined)
    }
    const answers = bySlug(await ask())
    expect(answers.get(slugOf(0))).toMatchObject({ status: "ok" })
    expect(answers.get(slugOf(1))).toMatchObject({ status: "error", message: expect.stringMatching(/\S/) })
    servers[1]!.answer = (tool) => `bert: ${tool}`
    expect(bySlug(await ask()).get(slugOf(1))).toMatchObject({ status: "ok" })
  })

  it("is stopped, byoa, or kept out by its owner is listed, and not called", async () => {
    const listing = `${businesses}/${members[0]!.business.id}/listing`
    expect(dataOf(await owner.patch<{ data: { composable: boolean | null } }>(listing, { composable: false })))
      .toMatchObject({ composable: false })
    const elsewhere = "https://login.example"
    await owner.put(`/v1/servers/${members[1]!.server.id}/auth`, {
      authMode: "byoa",
      byoaConfig: {
        issuer: elsewhere,
        jwksUri: `${elsewhere}/jwks`,
        authorizationEndpoint: `${elsewhere}/authorize`,
        tokenEndpoint: `${elsewhere}/token`
      }
    })
    await withClient(async (client) => {
      const { structuredContent } = await callTool(client, "composite_members")
      const reasons = new Map(
        (structuredContent as { members: ReadonlyArray<{ slug: string; callable: boolean; reason?: string }> }).members
          .map(({ reason, slug }) => [slug, reason])
      )
      expect(reasons.get(slugOf(0))).toMatch(/owner does not let/)
      expect(reasons.get(slugOf(1))).toMatch(/its own authorization server/)
      expect(reasons.get(slugOf(2))).toBeUndefined()
      const tools = (await client.listTools()).tools.map(({ name }) => name)
      expect(tools.sort()).toEqual([`${slugOf(2)}__change`, `${slugOf(2)}__look`, "composite_members"].sort())
      expect(await callTool(client, `${slugOf(2)}__look`)).toMatchObject({ content: [{ text: "cleo: look" }] })
    })
    await owner.put(`/v1/servers/${members[1]!.server.id}/auth`, { authMode: "service_managed" })
    await owner.patch(listing, { composable: null })
    expect(await ask()).toHaveLength(3)
  })

  it("lets in its owner alone is reached by its owner's session, if it may be composed, and by no hub key", async () => {
    const listing = `${businesses}/${members[2]!.business.id}/listing`
    await owner.put(`/v1/servers/${members[2]!.server.id}/auth`, { authMode: "service_managed", access: "owner" })
    const own = await compositeOf(members, owner)
    const reached = (token: string, at: string) =>
      withClient(
        async (client) =>
          bySlug(((await callTool(client, "look")).structuredContent as { answers: ReadonlyArray<Answer> }).answers)
            .get(slugOf(2)),
        token,
        at
      )
    expect(await reached(owner.token, own)).toBeUndefined()
    await owner.patch(listing, { composable: true })
    expect(await reached(owner.token, own)).toMatchObject({ status: "ok" })
    expect(await reached((await hubKey(berth, owner)).token, own)).toBeUndefined()
    expect(await reached(caller.token, path)).toMatchObject({
      status: "error",
      message: expect.stringContaining("does not let in this account")
    })
    await owner.put(`/v1/servers/${members[2]!.server.id}/auth`, { authMode: "service_managed", access: "public" })
    await owner.patch(listing, { composable: null })
  })
})

describe("prompts and resources", () => {
  it("prompts are prefixed, a URI is the better ranked member's", async () => {
    await withClient(async (client) => {
      const { prompts } = await client.listPrompts()
      expect(prompts.map(({ name }) => name).sort()).toEqual(members.map(({ slug }) => `${slug}__greet`).sort())
      const got = await client.getPrompt({ name: `${slugOf(1)}__greet` })
      expect(got.messages).toMatchObject([{ content: { text: "Greet bert" } }])
      const { resources } = await client.listResources()
      expect(resources.map(({ uri }) => uri)).toEqual(["menu://today"])
      expect(await client.readResource({ uri: "menu://today" })).toMatchObject({
        contents: [{ uri: "menu://today", text: expect.stringMatching(/^Menu of (anna|bert|cleo)$/) }]
      })
      await expect(client.readResource({ uri: "menu://tomorrow" })).rejects.toThrow(/There is no resource/)
      await expect(client.getPrompt({ name: "greet" })).rejects.toThrow(/There is no prompt/)
    })
  })
})

describe("many tools", () => {
  const many = (from: string) =>
    Array.from({ length: 25 }, (_, i) => ({ ...look, name: `${from}_${i}`, description: `Does ${from} number ${i}.` }))

  it("above 40 are found, described and called by a fixed list", async () => {
    const before = servers.map(({ tools }) => tools)
    servers[0]!.tools = [look, ...many("bake")]
    servers[1]!.tools = [look, ...many("brew")]
    for (const i of [0, 1]) await live.list(berth, members[i]!)
    await withClient(async (client) => {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
        "composite_members",
        "find_tools",
        "describe_tools",
        "call_tool"
      ])
      const found = await callTool(client, "find_tools", { query: "brewing number 7", limit: 3 })
      const { tools } = found.structuredContent as { tools: ReadonlyArray<{ name: string }> }
      expect(tools.length).toBeLessThanOrEqual(3)
      const name = `${slugOf(1)}__brew_7`
      const described = await callTool(client, "describe_tools", { names: ["look", name] })
      expect(described.structuredContent).toMatchObject({
        tools: [{ name: "look", outputSchema: { required: ["answers"] } }, { name, inputSchema: schema }]
      })
      expect(await callTool(client, "call_tool", { name, arguments: { q: "x" } })).toMatchObject({
        content: [{ text: "bert: brew_7" }]
      })
      expect((await callTool(client, "call_tool", { name: "look" })).structuredContent).toMatchObject({
        answers: [{ status: "ok" }, { status: "ok" }, { status: "ok" }]
      })
      for (const [tool, args] of [["call_tool", { name: "no" }], ["describe_tools", { names: ["no"] }]] as const) {
        const failed = await callTool(client, tool, args)
        expect([failed.isError, JSON.stringify(failed.content)]).toEqual([
          true,
          expect.stringContaining("There is no tool no")
        ])
      }
    })
    before.forEach((tools, i) => (servers[i]!.tools = tools))
    for (const i of [0, 1]) await live.list(berth, members[i]!)
  })
})

describe("a member's list", () => {
  it("is stored anew when it says that it changed", async () => {
    servers[0]!.tools = [look, change, { ...look, name: "added" }]
    await ask({ businesses: [slugOf(0)] }, undefined, "change")
    await expect.poll(() => withClient(async (client) => (await client.listTools()).tools.map(({ name }) => name)), {
      timeout: 15_000,
      interval: 500
    }).toContain(`${slugOf(0)}__added`)
    servers[0]!.tools = [look, change]
    await live.list(berth, members[0]!)
  }, 30_000)
})

describe("the door", () => {
  it("is closed without a credential, says where to get one, and knows only what the caller may read", async () => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list" }
    const headers = { accept: "application/json, text/event-stream" }
    const anonymous = await berth.request("POST", path, { body: message, headers })
    expect(anonymous.status).toBe(401)
    expect(anonymous.headers.get("www-authenticate")).toContain(
      `resource_metadata="${berth.url}/.well-known/oauth-protected-resource${path}"`
    )
    expect(await berth.request("GET", `/.well-known/oauth-protected-resource${path}`)).toMatchObject({
      status: 200,
      body: {
        resource: `${berth.url}${path}`,
        scopes_supported: ["mcp:read", "mcp:write", "mcp:execute", "offline_access"]
      }
    })
    expect((await berth.request("GET", "/.well-known/oauth-protected-resource/mcp/composites/x")).status).toBe(404)
    const stranger = await berth.signUp()
    expect((await stranger.request("POST", path, { body: message, headers })).status).toBe(404)
    expect(
      (await stranger.request("POST", "/mcp/composites/01HZZZZZZZZZZZZZZZZZZZZZZZ", { body: message, headers })).status
    )
      .toBe(404)
    expect((await stranger.request("POST", "/mcp/composites/x", { body: message, headers })).status).toBe(400)
    const { key: platformKey } = await caller.key((await caller.project()).id)
    expect((await berth.request("POST", path, { token: platformKey, body: message, headers })).status).toBe(401)
    expect((await caller.request("GET", path)).status).toBe(405)
    expect((await caller.request("DELETE", path)).status).toBe(405)
  })
})
