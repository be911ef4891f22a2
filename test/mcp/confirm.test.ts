import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { ElicitRequestSchema, type ElicitResult } from "@modelcontextprotocol/sdk/types.js"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account, type Holder } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { newBusiness } from "../support/business.ts"
import { callTool, connectMcp, textOf, type Way } from "../support/mcp.ts"
import { newFlow } from "../support/oauth.ts"
import { outputValidators } from "../support/output-validators.ts"
import { envelope, type Rpc, rpcOf, statelessPost } from "../support/stateless.ts"

const berth = useBerth()
let owner: Account
beforeAll(async () => {
  owner = await berth.signUp("enterprise")
})

const exists = async (id: string) => (await owner.get(`/v1/projects/${id}`)).status === 200
const yes: ElicitResult = { action: "accept", content: { confirm: true } }
const noes: ReadonlyArray<readonly [string, ElicitResult]> = [
  ["declines", { action: "decline" }],
  ["dismisses the question", { action: "cancel" }],
  ["accepts with the default", { action: "accept", content: { confirm: false } }],
  ["accepts without an answer", { action: "accept", content: {} }]
]
const notConfirmed = failure("NOT_CONFIRMED")

describe.each<Way>(["Streamable HTTP", "SSE"])("a client up to 2025-11-25 that takes forms, over %s", (way) => {
  const connect = async (answer: (message: string) => ElicitResult | Promise<ElicitResult>, token = owner.token) => {
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    const client = new Client({ name: "test", version: "1.0.0" }, {
      capabilities: { elicitation: {} },
      jsonSchemaValidator: outputValidators
    })
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params.message))
    const transport = way === "SSE"
      ? new SSEClientTransport(new URL(`${berth.url}/sse`), { requestInit })
      : new StreamableHTTPClientTransport(new URL(`${berth.url}/mcp`), { requestInit })
    await client.connect(transport as Transport)
    return client
  }

  it("is asked by name before a project is deleted, also through call_tool, and yes deletes it", async () => {
    const asked: Array<string> = []
    const client = await connect((message) => {
      asked.push(message)
      return yes
    })
    const [one, two] = [await owner.project("Old Shop"), await owner.project("Old Cafe")]
    expect((await callTool(client, "delete_project", { projectId: one.id })).isError).toBe(undefined)
    const through = { name: "delete_project", arguments: { projectId: two.id } }
    expect((await callTool(client, "call_tool", through)).isError).toBe(undefined)
    expect([await exists(one.id), await exists(two.id)]).toEqual([false, false])
    expect(asked).toEqual(
      ["Old Shop", "Old Cafe"].map((name) => expect.stringContaining(`Delete the project "${name}"`) as string)
    )
    await client.close()
  })

  it.each(noes)("whose person %s is told that nothing was done", async (_, answer) => {
    const client = await connect(() => answer)
    const project = await owner.project()
    const result = await callTool(client, "delete_project", { projectId: project.id })
    expect([result.isError, textOf(result)]).toEqual([true, notConfirmed])
    expect(JSON.stringify(textOf(result))).toContain("nothing was done")
    expect(await exists(project.id)).toBe(true)
    await client.close()
  })

  it("that fails to ask deletes nothing", async () => {
    const client = await connect(() => Promise.reject(new Error("no screen")))
    const project = await owner.project()
    expect(textOf(await callTool(client, "delete_project", { projectId: project.id }))).toEqual(notConfirmed)
    expect(await exists(project.id)).toBe(true)
    await client.close()
  })

  it("is not asked for what it may not delete, or what there is not", async () => {
    const project = await owner.project()
    const other = await (await berth.signUp()).project()
    const { key } = await owner.key(project.id, ["servers:read"])
    const ask = () => Promise.reject(new Error("asked"))
    const [client, reader] = [await connect(ask), await connect(ask, key)]
    expect(textOf(await callTool(reader, "delete_project", { projectId: project.id })))
      .toMatchObject({ error: { code: "FORBIDDEN" } })
    for (const projectId of [other.id, "nope"]) {
      expect(textOf(await callTool(client, "delete_project", { projectId }))).toEqual(failure("NOT_FOUND"))
    }
    await Promise.all([client.close(), reader.close()])
  })
})

it("a client that takes no forms deletes at once", async () => {
  const project = await owner.project()
  const client = await connectMcp(berth.url, { token: owner.token })
  expect((await callTool(client, "delete_project", { projectId: project.id })).isError).toBe(undefined)
  expect(await exists(project.id)).toBe(false)
  await client.close()
})

describe("an answer in a POST of its own", () => {
  const capabilities = { elicitation: { form: {} } }
  const headersOf = (sessionId: string) => ({
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
    "mcp-session-id": sessionId
  })

  /** The stream of a call that waits for an answer, and the number of its question. */
  const askedToDelete = async (token: string, sessionId: string, projectId: string, signal?: AbortSignal) => {
    const stream = await fetch(`${berth.url}/mcp`, {
      method: "POST",
      ...(signal === undefined ? {} : { signal }),
      headers: { ...headersOf(sessionId), "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "delete_project", arguments: { projectId } }
      })
    })
    const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    while (!text.includes("elicitation/create")) {
      const next = await reader.read()
      if (next.done) throw new Error(text)
      text += next.value
    }
    /** What else comes until the call ends. */
    const rest = async () => {
      let end = ""
      for (let next = await reader.read(); !next.done; next = await reader.read()) end += next.value
      return end
    }
    return { id: rpcOf({ text: text.trim() }).id, rest }
  }

  it("is waited for by 20 calls of an account at once, and no more; each that is left makes room", async () => {
    const [mine, other] = [await berth.signUp("enterprise"), await berth.signUp()]
    const [project, another] = [await mine.project(), await other.project()]
    const ask = (i: number, signal: AbortSignal) => askedToDelete(mine.token, `forms-${i}`, project.id, signal)
    for (let round = 0; round < 3; round++) {
      const gone = new AbortController()
      // Those of the round before are known to have gone within moments.
      const waiting = await Promise.all(
        Array.from(
          { length: 20 },
          (_, i) => vi.waitUntil(() => ask(i, gone.signal).catch(() => undefined), { timeout: 10_000 })
        )
      )
      const refused = await ask(20, gone.signal).then(() => "asked", String)
      expect(refused).toContain("20 questions to this account's user wait for an answer already: nothing was done")
      expect(refused).toContain("RATE_LIMITED")
      const asked = await askedToDelete(other.token, "forms-x", another.id)
      const no = { jsonrpc: "2.0", id: asked.id, result: { action: "decline" } }
      await other.request("POST", "/mcp", { body: no, headers: headersOf("forms-x") })
      expect(await asked.rest()).toContain("NOT_CONFIRMED")
      gone.abort()
      await Promise.allSettled(waiting.map(({ rest }) => rest()))
    }
    expect((await mine.get(`/v1/projects/${project.id}`)).status).toBe(200)
  })

  it("does not count from a token of fewer scopes whose session id begins with the others", async () => {
    const flow = await newFlow(berth)
    const tokenOf = async (scope: string) => (await flow.tokens({ resource: `${berth.url}/v1`, scope })).access_token
    const [more, fewer] = [await tokenOf("account servers:write"), await tokenOf("account")]
    const project = await flow.user.project()
    const { id, rest } = await askedToDelete(more, "forms-x", project.id)
    const answer = (token: string, sessionId: string, action: string) => {
      const body = { jsonrpc: "2.0", id, result: { ...yes, action } }
      return berth.request("POST", "/mcp", { token, body, headers: headersOf(sessionId) })
    }
    expect((await answer(fewer, "servers:write forms-x", "accept")).status).toBe(202)
    expect((await answer(more, "forms-x", "decline")).status).toBe(202)
    expect(await rest()).toContain("NOT_CONFIRMED")
    expect((await flow.user.get(`/v1/projects/${project.id}`)).status).toBe(200)
  })

  it("counts only from the account and session that was asked", async () => {
    const post = (account: Account, sessionId: string, body: object) =>
      account.request("POST", "/mcp", { body: { jsonrpc: "2.0", ...body }, headers: headersOf(sessionId) })
    const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "x", version: "1" } }
    const session = (await post(owner, "", { id: 0, method: "initialize", params })).headers.get("mcp-session-id") ?? ""
    expect(session).not.toBe("")
    const project = await owner.project()
    const { id, rest } = await askedToDelete(owner.token, session, project.id)
    const stranger = await berth.signUp()
    for (const [account, by] of [[stranger, session], [owner, "forms-another"]] as const) {
      expect((await post(account, by, { id, result: yes })).status).toBe(202)
    }
    expect(await exists(project.id)).toBe(true)
    expect((await post(owner, session, { id, result: { action: "decline" } })).status).toBe(202)
    expect(await rest()).toContain("NOT_CONFIRMED")
    expect(await exists(project.id)).toBe(true)
  })
})

it("a client that cancels the call hears that the question is withdrawn, and nothing is deleted", async () => {
  const project = await owner.project()
  const client = new Client({ name: "test", version: "1.0.0" }, {
    capabilities: { elicitation: {} },
    jsonSchemaValidator: outputValidators
  })
  const canceled = new AbortController()
  const withdrawn = new Promise<void>((resolve) =>
    client.setRequestHandler(ElicitRequestSchema, (_, { signal }) => {
      signal.addEventListener("abort", () => resolve())
      canceled.abort()
      return new Promise<ElicitResult>(() => undefined)
    })
  )
  const requestInit = { headers: { authorization: `Bearer ${owner.token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${berth.url}/mcp`), { requestInit }) as Transport)
  const call = client.callTool({ name: "delete_project", arguments: { projectId: project.id } }, undefined, {
    signal: canceled.signal
  })
  await expect(call).rejects.toThrow()
  await withdrawn
  expect(await exists(project.id)).toBe(true)
  await client.close()
})

describe("in revision 2026-07-28", () => {
  const meta = (elicitation?: object) => ({
    ...envelope(),
    "io.modelcontextprotocol/clientCapabilities": elicitation === undefined ? {} : { elicitation }
  })
  const call = async (
    name: string,
    args: object,
    { account = owner, ...more }: { account?: Holder; [name: string]: unknown } = {}
  ): Promise<Rpc> => {
    const params = { name, arguments: args, ...more }
    return rpcOf(await account.request("POST", "/mcp", statelessPost({ method: "tools/call", params, meta: meta({}) })))
  }
  const askedFor = async (name: string, args: object) => {
    const { result } = await call(name, args)
    expect(result).toMatchObject({
      resultType: "input_required",
      inputRequests: { confirm: { method: "elicitation/create" } },
      requestState: expect.stringMatching(/^v1\./) as string
    })
    return String(result?.["requestState"])
  }

  it("asks with a result, keeps nothing, and does it on the answer", async () => {
    const project = await owner.project("Old Shop")
    const args = { projectId: project.id }
    const requestState = await askedFor("delete_project", args)
    expect(await exists(project.id)).toBe(true)
    const { result } = await call("delete_project", args, { requestState, inputResponses: { confirm: yes } })
    expect(result).toMatchObject({ resultType: "complete", content: [{ text: "Done" }] })
    expect(await exists(project.id)).toBe(false)
  })

  it.each(noes)("does nothing when the person %s, and says so", async (_, confirm) => {
    const project = await owner.project()
    const args = { projectId: project.id }
    const requestState = await askedFor("delete_project", args)
    const { result } = await call("delete_project", args, { requestState, inputResponses: { confirm } })
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("NOT_CONFIRMED") as string }]
    })
    expect(await exists(project.id)).toBe(true)
  })

  it("asks again where an answer comes without its state, and takes none without an answer", async () => {
    const project = await owner.project()
    const args = { projectId: project.id }
    const { result } = await call("delete_project", args, { inputResponses: { confirm: yes } })
    expect(result).toMatchObject({ resultType: "input_required" })
    const silent = await call("delete_project", args, { requestState: result?.["requestState"] })
    expect(silent.result).toMatchObject({ isError: true })
    expect(await exists(project.id)).toBe(true)
  })

  it("refuses a state that is forged, or of another call, tool or caller: -32602", async () => {
    const [project, other] = [await owner.project(), await owner.project()]
    const server = await owner.server(project.id)
    const requestState = await askedFor("delete_project", { projectId: other.id })
    const forged = `${requestState.slice(0, -4)}${requestState.endsWith("AAAA") ? "BBBB" : "AAAA"}`
    const inputResponses = { confirm: yes }
    const key = await owner.holder(other.id)
    const refused: ReadonlyArray<Promise<Rpc>> = [
      call("delete_project", { projectId: project.id }, { requestState, inputResponses }),
      call("delete_server", { serverId: server.id }, { requestState, inputResponses }),
      call("delete_project", { projectId: other.id }, { requestState, inputResponses, account: key }),
      call("delete_project", { projectId: other.id }, { requestState: forged, inputResponses }),
      call("delete_project", { projectId: other.id }, { requestState: "v1.x", inputResponses }),
      call("list_projects", {}, { requestState, inputResponses })
    ]
    for (const { error } of await Promise.all(refused)) {
      expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(/^requestState/) as string })
    }
    expect([await exists(project.id), await exists(other.id)]).toEqual([true, true])
  })

  it.each([[undefined], [{ url: {} }]])("asks no client whose capability is %s", async (elicitation) => {
    const project = await owner.project()
    const sent = statelessPost({
      method: "tools/call",
      params: { name: "delete_project", arguments: { projectId: project.id } },
      meta: meta(elicitation)
    })
    expect(rpcOf(await owner.request("POST", "/mcp", sent)).result).toMatchObject({ resultType: "complete" })
    expect(await exists(project.id)).toBe(false)
  })

  it("asks for servers and businesses, too", async () => {
    const project = await owner.project()
    const server = await owner.server(project.id, { name: "Menu" })
    const business = await newBusiness(owner, { name: "Corner Cafe" })
    for (
      const [name, args, says] of [
        ["delete_server", { serverId: server.id }, "delete the server \"Menu\""],
        ["delete_business", { businessId: business.id }, "Delete the business \"Corner Cafe\""]
      ] as const
    ) {
      const { result } = await call(name, args)
      expect(JSON.stringify(result?.["inputRequests"])).toContain(JSON.stringify(says).slice(1, -1))
    }
  })
})
