import { beforeAll, describe, expect, it } from "vitest"
import { useThreeMembers } from "../composites/three-members.ts"
import { freshAddress } from "../support/http.ts"
import { type Ask, envelope, outcomeOf, rpcOf, sessionPost, statelessPost } from "../support/stateless.ts"

const setting = useThreeMembers()

interface Door {
  readonly name: string
  readonly path: () => string
  readonly isOpen: boolean
  /** Something that it can do. */
  readonly call: Readonly<Record<string, unknown>>
  readonly lists: ReadonlyArray<string>
  readonly hasResources: boolean
}

const doors: ReadonlyArray<Door> = [
  {
    name: "/mcp",
    path: () => "/mcp",
    isOpen: false,
    call: { name: "list_projects", arguments: {} },
    lists: ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "skills/list"],
    hasResources: true
  },
  {
    name: "/mcp/directory",
    path: () => "/mcp/directory",
    isOpen: true,
    call: { name: "search_businesses", arguments: { query: "soup" } },
    lists: ["tools/list"],
    hasResources: false
  },
  {
    name: "/mcp/composites/:id",
    path: () => setting.path,
    isOpen: false,
    call: { name: "composite_members", arguments: {} },
    lists: ["tools/list", "prompts/list", "resources/list", "resources/templates/list"],
    hasResources: true
  }
]

describe.each(doors)("$name, in revision 2026-07-28", ({ call, hasResources, isOpen, lists, path }) => {
  const send = (sent: ReturnType<typeof statelessPost>) => {
    const headers = { "x-forwarded-for": freshAddress(), ...sent.headers }
    return isOpen
      ? setting.berth.request("POST", path(), { ...sent, headers })
      : setting.caller.request("POST", path(), { ...sent, headers })
  }
  const ask = (request: Ask) => send(statelessPost(request))
  const askInSession = (request: Ask) => send(sessionPost(request))

  it("says what it is and can do to a client that has sent nothing before", async () => {
    const answer = await ask({ method: "server/discover" })
    expect([answer.status, answer.headers.get("mcp-session-id")]).toEqual([200, null])
    expect(rpcOf(answer).result).toMatchObject({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      instructions: expect.stringMatching(/\S/) as string,
      ttlMs: expect.any(Number) as number,
      cacheScope: expect.stringMatching(/^(public|private)$/) as string,
      _meta: { "io.modelcontextprotocol/serverInfo": { name: expect.stringMatching(/^berth/) as string } }
    })
  })

  it.each(lists)("has in %s what earlier revisions have, and says how long it may be kept", async (method) => {
    const now = rpcOf(await ask({ method })).result
    const before = rpcOf(await askInSession({ method })).result
    expect(now).toMatchObject({ ...before, resultType: "complete" })
    expect(now).toMatchObject({ ttlMs: expect.any(Number) as number, cacheScope: expect.any(String) as string })
  })

  it("answers a call as earlier revisions do, and writes no result twice", async () => {
    const now = rpcOf(await ask({ method: "tools/call", params: call })).result
    const before = rpcOf(await askInSession({ method: "tools/call", params: call })).result
    expect(now).toMatchObject({ structuredContent: before?.["structuredContent"], content: before?.["content"] })
    expect(now).toMatchObject({ resultType: "complete" })
  })

  it.each([
    ["a header of another method", { "mcp-method": "tools/list" }],
    ["a header of another tool", { "mcp-name": "whoami" }],
    ["no header of the method", { "mcp-method": "" }],
    ["a header of an earlier revision", { "mcp-protocol-version": "2025-11-25" }]
  ])("refuses %s than the body's: 400, -32020", async (_, headers) => {
    expect(outcomeOf(await ask({ method: "tools/call", params: call, headers }))).toEqual([400, -32020])
  })

  it("refuses a revision that it does not know with those that it does: 400, -32022", async () => {
    const answer = await ask({
      method: "tools/list",
      meta: envelope("2099-01-01"),
      headers: { "mcp-protocol-version": "2099-01-01" }
    })
    expect(outcomeOf(answer)).toEqual([400, -32022])
    expect(rpcOf(answer).error?.data).toEqual({ supported: ["2026-07-28"], requested: "2099-01-01" })
  })

  it.each(["ping", "logging/setLevel", "resources/subscribe", "initialize", "no/such"])(
    "does not know %s: 404, -32601",
    async (method) => {
      expect(outcomeOf(await ask({ method }))).toEqual([404, -32601])
    }
  )

  it("refuses a request that says its revision in the header alone: 400", async () => {
    const { body, headers } = sessionPost({ method: "tools/list" })
    const answer = await send({ body, headers: { ...headers, "mcp-protocol-version": "2026-07-28" } })
    expect(outcomeOf(answer)).toEqual([400, -32602])
  })

  it("has no batches: 400", async () => {
    const sent = statelessPost({ method: "tools/list" })
    expect(outcomeOf(await send({ ...sent, body: [sent.body] }))).toEqual([400, -32600])
  })

  it("knows no session: an id that a client sends is nothing to it, and it gives none", async () => {
    const answer = await ask({ method: "tools/list", headers: { "mcp-session-id": "of-another" } })
    expect([answer.status, answer.headers.get("mcp-session-id")]).toEqual([200, null])
  })

  it("says what is wrong with parameters in a sentence: -32602", async () => {
    const answer = rpcOf(await ask({ method: "tools/call", params: { name: call["name"], arguments: 7 } }))
    expect(answer.error).toEqual({ code: -32602, message: "params.arguments must be an object" })
  })

  if (hasResources) {
    it("names the resource that is not there: -32602, in both eras", async () => {
      const request = { method: "resources/read", params: { uri: "test://none" } }
      for (const answer of [await ask(request), await askInSession(request)]) {
        expect(rpcOf(answer).error).toMatchObject({ code: -32602, data: { uri: "test://none" } })
      }
    })
  }

  it("refuses a huge body in both eras: 413", async () => {
    const params = { ...call, arguments: { text: "x".repeat(20_000_000) } }
    for (
      const answer of [
        await ask({ method: "tools/call", params }),
        await askInSession({ method: "tools/call", params })
      ]
    ) {
      expect(answer.status).toBe(413)
    }
  })

  it("ends a subscription at once, since it has nothing to tell", async () => {
    const answer = await ask({
      method: "subscriptions/listen",
      params: { notifications: { toolsListChanged: true, resourcesListChanged: true } }
    })
    expect(answer.status).toBe(200)
    expect(answer.text === "" ? rpcOf(answer) : answer.text).toContain("notifications/subscriptions/acknowledged")
    expect(rpcOf(answer).result).toMatchObject({ resultType: "complete" })
  })

  it("counts in the same rate as earlier revisions", async () => {
    const headers = { "x-forwarded-for": freshAddress() }
    const left = async (post: typeof statelessPost) => {
      const answer = await send(post({ method: "tools/list", headers }))
      return Number(answer.headers.get("x-ratelimit-remaining"))
    }
    const first = await left(sessionPost)
    expect(await left(statelessPost)).toBe(first - 1)
    expect(await left(sessionPost)).toBe(first - 2)
  })

  if (!isOpen) {
    it("lets nobody in without a good credential, in both eras: 401 that says where to get one", async () => {
      for (const post of [statelessPost, sessionPost]) {
        for (const token of [undefined, "nonsense"]) {
          const answer = await setting.berth.request("POST", path(), { ...post({ method: "tools/list" }), token })
          expect(answer.status).toBe(401)
          expect(answer.headers.get("www-authenticate")).toContain("resource_metadata=\"")
        }
      }
    })
  }

  it("lets a page send its headers", async () => {
    const preflight = await setting.berth.request("OPTIONS", path(), {
      headers: { origin: new URL(setting.berth.url).origin, "access-control-request-method": "POST" }
    })
    const allowed = preflight.headers.get("access-control-allow-headers")?.toLowerCase().split(/, */)
    expect(allowed).toEqual(expect.arrayContaining(["mcp-protocol-version", "mcp-method", "mcp-name", "authorization"]))
  })
})

describe("a call that reports progress", () => {
  beforeAll(() => expect(setting.path).toMatch(/^\/mcp\/composites\//))

  it("does so before its result, in the same answer", async () => {
    const { id: projectId } = await setting.caller.project()
    const server = await setting.caller.server(projectId)
    const answer = await setting.caller.request(
      "POST",
      "/mcp",
      statelessPost({
        method: "tools/call",
        params: { name: "deploy", arguments: { serverId: server.id, imageUri: "oci:/nowhere" } },
        meta: { ...envelope(), progressToken: "p1" }
      })
    )
    const messages = answer.text.match(/^data: .*$/gm)!.map((line) => JSON.parse(line.slice(6)) as object)
    expect(messages[0]).toMatchObject({ method: "notifications/progress", params: { progressToken: "p1" } })
    expect(messages.at(-1)).toMatchObject({ id: 7, result: { resultType: "complete" } })
  })
})
