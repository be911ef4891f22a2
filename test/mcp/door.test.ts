import { plans } from "#src/plans/Plan.ts"
import { Ajv2020 } from "ajv/dist/2020.js"
import { get, type IncomingMessage } from "node:http"
import { setTimeout } from "node:timers/promises"
import { beforeAll, describe, expect, it } from "vitest"
import { failure } from "../contract/shapes.ts"
import { type Account, allScopes, type Project, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { hubKey } from "../support/composites.ts"
import { freshAddress } from "../support/http.ts"
import { callTool, connectMcp, type Way } from "../support/mcp.ts"
import { itLong } from "../support/needs.ts"
import { rpcOf } from "../support/stateless.ts"
import { twins, withoutOperation } from "./twins.ts"

const berth = useBerth({ variables: { ALLOWED_ORIGINS: "https://console.example.com" } })
let owner: Account
let project: Project
let server: Server

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  project = await owner.project()
  server = await owner.server(project.id)
})

const accept = "application/json, text/event-stream"
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } }
}
const list = { jsonrpc: "2.0", id: 1, method: "tools/list" }

/** Not by the SDK's client, which compiles the schema of each tool that it is told of. */
const toolNames = async (token: string, query = "") => {
  const { result } = rpcOf(await berth.request("POST", `/mcp${query}`, { token, body: list, headers: { accept } }))
  return (result?.["tools"] as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name).sort()
}

/** The stream of /sse, opened by hand: its session's address, and what it says. */
const openSse = async (token: string) => {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${berth.url}/sse`, { headers: { authorization: `Bearer ${token}`, "x-forwarded-for": freshAddress() } })
      .on("response", resolve).on("error", reject)
  })
  let text = ""
  response.setEncoding("utf8").on("error", () => undefined).on("data", (chunk: string) => void (text += chunk))
  const said = async (pattern: RegExp) => {
    for (let i = 0; i < 100; i++) {
      const match = pattern.exec(text)
      if (match !== null) return match
      await setTimeout(20)
    }
    throw new Error(`the stream said only ${JSON.stringify(text)}`)
  }
  const [, path = ""] = await said(/event: endpoint\ndata: (\S+)\n/)
  return { response, path, said, close: () => response.destroy() }
}

describe.each<Way>(["Streamable HTTP", "SSE"])("over %s", (way) => {
  it("the SDK's client lists the tools, calls them, and reads guides and prompts", async () => {
    const client = await connectMcp(berth.url, { token: owner.token, way })
    expect(client.getServerVersion()).toMatchObject({ name: "berth", version: expect.stringMatching(/^\d/) })
    expect(client.getInstructions()).toMatch(/create_server/)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain("deploy")
    const made = await callTool(client, "create_project", { name: "By tool" })
    expect(made.structuredContent).toMatchObject({ name: "By tool", slug: expect.stringMatching(/^by-tool/) })
    const refused = await callTool(client, "get_project", { projectId: "nope" })
    expect([refused.isError, refused.content]).toEqual([true, [{
      type: "text",
      text: JSON.stringify({ error: { code: "NOT_FOUND", message: "There is no such project" } })
    }]])
    await expect(client.callTool({ name: "no_such_tool" })).rejects.toMatchObject({ code: -32602 })
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain("deploy_server")
    expect((await client.getPrompt({ name: "deploy_server", arguments: { imageUri: "x/y:1" } })).messages[0]?.content)
      .toMatchObject({ type: "text", text: expect.stringContaining("x/y:1") })
    await expect(client.getPrompt({ name: "deploy_server" })).rejects.toMatchObject({ code: -32602 })
    // SEP-2640, Error Handling, where the base protocol of 2025-11-25 has -32002.
    await expect(client.readResource({ uri: "skill://berth/none" })).rejects.toMatchObject({ code: -32602 })
    await client.ping()
    await client.close()
  })

  it("many calls at once each get their own answer", async () => {
    const client = await connectMcp(berth.url, { token: owner.token, way })
    const names = Array.from({ length: 12 }, (_, n) => `Many ${n} ${way}`)
    const results = await Promise.all(names.map((name) => callTool(client, "create_project", { name })))
    expect(results.map(({ structuredContent }) => structuredContent?.["name"])).toEqual(names)
    await client.close()
  })

  it("an API key does what its scopes allow", async () => {
    const { key } = await owner.key(project.id, ["servers:read"])
    const client = await connectMcp(berth.url, { token: key, way })
    expect((await callTool(client, "get_server", { serverId: server.id })).structuredContent).toEqual(server)
    const refused = await callTool(client, "update_server", { serverId: server.id, name: "x" })
    expect([refused.isError, refused.content]).toMatchObject([true, [{ text: expect.stringContaining("FORBIDDEN") }]])
    await client.close()
  })

  it("nobody is let in without a good credential: 401 with a challenge", async () => {
    for (const token of ["", "x", "svc_live_x", `${owner.token}x`, "hub_live_x"]) {
      await expect(connectMcp(berth.url, { token, way })).rejects.toThrow()
    }
    const [method, path] = way === "SSE" ? ["GET", "/sse"] as const : ["POST", "/mcp"] as const
    for (const headers of [{}, { authorization: "Bearer x" }, { authorization: "Basic x" }]) {
      const answer = await berth.request(method, path, {
        headers: { ...headers, accept },
        ...(method === "POST" ? { body: initialize } : {})
      })
      expect([answer.status, answer.body]).toEqual([401, failure("UNAUTHORIZED")])
      expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer/)
    }
  })

  it("a page of elsewhere is refused, ours and the operator's are let in", async () => {
    const [method, path] = way === "SSE" ? ["POST", "/message?sessionId=x"] as const : ["POST", "/mcp"] as const
    const ask = (origin: string) => owner.request(method, path, { body: list, headers: { origin, accept } })
    for (const origin of ["https://evil.example", "null", "https://localhost.evil.example", "x"]) {
      const answer = await ask(origin)
      expect([answer.status, answer.body], origin).toEqual([403, failure("FORBIDDEN")])
      expect(answer.headers.get("access-control-allow-origin")).toBeNull()
    }
    const mine = [berth.url, "https://console.example.com", "http://localhost:6274", "http://127.0.0.1:1"]
    for (const origin of mine) {
      const answer = await ask(origin)
      expect(answer.status, origin).toEqual(way === "SSE" ? 404 : 200)
      expect(answer.headers.get("access-control-allow-origin")).toBe(origin)
    }
    // A page must be able to read the challenge.
    const stranger = await berth.request(method, path, { body: list, headers: { origin: berth.url, accept } })
    expect([stranger.status, stranger.headers.get("access-control-allow-origin")]).toEqual([401, berth.url])
    expect(stranger.headers.get("access-control-expose-headers")).toContain("www-authenticate")
  })
})

/** The tools of businesses and the directory. */
const directory = Object.entries(twins)
  .filter(([name]) => /^\w+ \/(api\/v1\/ready|v1\/directory|\.well-known\/mcp-server-metadata)\//.test(`${name}/`))
  .map(([, tool]) => tool)
/** Those among them that are not for sessions only, by the scope that a key needs. */
const directoryByKey: Readonly<Record<string, ReadonlyArray<string>>> = { business_config: ["servers:read"] }
const sessionTools = () => [...new Set([...Object.values(twins), ...Object.keys(withoutOperation)])].sort()
/** Those that every credential may call: what they tell is public, or of the credential itself. */
/** Beside all others: a narrower selection does not have them. */
const meta = ["call_tool", "find_tools"]
const publicTools = [
  "call_tool",
  "directory_facets",
  "directory_listing",
  "directory_search",
  "find_tools",
  "hub_get_capability_doc",
  "hub_listing_skill",
  "hub_skills",
  "list_plans",
  "server_metadata",
  "whoami"
]

describe("tools/list", () => {
  itLong("shows a session every tool, and a key those that its scopes allow", async () => {
    const all = sessionTools()
    const sessionOnly = [
      "add_registry",
      "delete_registry",
      "list_registries",
      "update_registry",
      "cancel_subscription",
      "change_plan",
      "create_api_key",
      "create_project",
      "create_server_token",
      "delete_api_key",
      "list_api_keys",
      "list_grants",
      "register_client",
      "renew_grant",
      "revoke_grant",
      "subscribe",
      ...all.filter((name) => name.startsWith("hub_") && !publicTools.includes(name)),
      ...directory.filter((name) => directoryByKey[name] === undefined && !publicTools.includes(name))
    ]
    const read = [
      "get_project",
      "get_server",
      "get_logs",
      "list_env",
      "list_projects",
      "list_servers",
      "business_config"
    ].sort()
    expect(await toolNames(owner.token, "?toolsets=all")).toEqual(all)
    const tools = async (...scopes: ReadonlyArray<string>) => {
      const names = await toolNames((await owner.key(project.id, scopes)).key, "?toolsets=all")
      expect(names).toEqual(expect.arrayContaining(publicTools))
      return names.filter((name) => !publicTools.includes(name))
    }
    expect(await tools(...allScopes)).toEqual(
      all.filter((name) => !sessionOnly.includes(name) && !publicTools.includes(name))
    )
    expect(await tools("servers:read")).toEqual(read)
    expect(await tools("logs:read")).toEqual(["get_logs"])
    expect(await tools("billing:read")).toEqual(["get_billing", "get_plan", "get_usage"])
    const agent = await hubKey(berth, owner)
    expect(await toolNames(agent.token, "?toolsets=all")).toEqual([
      ...publicTools,
      "create_server_token",
      ...Object.values(twins).filter((name) => /composite/.test(name))
    ].sort())
    expect(await tools("metrics:read")).toEqual(["get_metrics_series", "get_server_metrics", "get_tool_metrics"])
    expect(await tools("deployments:read")).toEqual([
      "get_deployment",
      "list_deployments",
      "list_images",
      "list_vulnerabilities",
      "wait_for_deployment"
    ])
    expect(await tools("deployments:write")).toEqual([
      "cancel_deployment",
      "delete_image",
      "deploy",
      "rollback",
      "wait_for_deployment"
    ])
    expect(await tools("servers:write")).toEqual([
      "configure_server_auth",
      "create_server",
      "create_test_token",
      "delete_env",
      "delete_project",
      "delete_server",
      "record_transaction",
      "restart_server",
      "set_env",
      "start_server",
      "stop_server",
      "update_project",
      "update_server"
    ])
  })

  it("says plainly what a limit is: an integer, its range, and what it is when left out", async () => {
    const client = await connectMcp(berth.url, { token: owner.token, query: "?toolsets=all" })
    const { tools } = await client.listTools()
    const limits = tools.flatMap(({ inputSchema, name }) => {
      const limit = inputSchema.properties?.["limit"]
      return limit === undefined ? [] : [[name, limit]]
    })
    expect(limits.length).toBeGreaterThan(6)
    const usual = { type: "integer", minimum: 1, maximum: 100, default: 20 }
    for (const [name, limit] of limits.filter(([name]) => name !== "find_tools")) {
      expect(limit, JSON.stringify(name)).toEqual(
        /^(get_logs|hub_skills)$/.test(String(name))
          ? { ...usual, maximum: 200, default: 50 }
          : name === "get_catalog"
          ? { ...usual, default: 50 }
          : usual
      )
    }
    await client.close()
  })

  itLong("is narrowed by ?toolsets=, and never shows what the credential may not call, with all neither", async () => {
    const all = sessionTools()
    const hub = all.filter((name) => name.startsWith("hub_") || name === "record_transaction")
    const { key } = await owner.key(project.id, ["servers:read", "billing:read"])
    const billing = [
      "cancel_subscription",
      "change_plan",
      "get_billing",
      "get_plan",
      "get_usage",
      "list_plans",
      "subscribe"
    ]
    expect(await toolNames(owner.token, "?toolsets=billing")).toEqual(billing)
    expect(await toolNames(owner.token, "?toolsets=deploy")).toEqual(
      all.filter((name) => ![...directory, ...hub, ...billing, ...meta].includes(name))
    )
    expect(await toolNames(owner.token, "?toolsets=directory")).toEqual([...directory].sort())
    expect(await toolNames(owner.token, "?toolsets=deploy,%20billing,directory,hub")).toEqual(all)
    expect(await toolNames(owner.token, "?toolsets=hub")).toEqual(hub)
    expect(await toolNames(key, "?toolsets=billing")).toEqual(["get_billing", "get_plan", "get_usage", "list_plans"])
    expect(await toolNames(owner.token, "?toolsets=all")).toEqual(all)
    expect(await toolNames(key, "?toolsets=all")).toEqual(
      await toolNames(key, "?toolsets=deploy,hub,directory,billing")
    )
    for (const toolsets of ["", "x", "deploy,x", "ALL"]) {
      const answer = await owner.request("POST", `/mcp?toolsets=${toolsets}`, { body: list, headers: { accept } })
      expect([answer.status, answer.body], toolsets).toEqual([400, failure("BAD_REQUEST")])
    }
  })

  itLong("describes each tool whole: title, use, schemas, hints that fit what it does", async () => {
    const client = await connectMcp(berth.url, { token: owner.token, query: "?toolsets=all" })
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    for (const tool of (await client.listTools()).tools) {
      expect(tool.title, tool.name).toEqual(expect.stringMatching(/^[A-Z].{3,40}$/))
      expect(tool.description?.length ?? 0).toBeGreaterThan(20)
      expect(tool.inputSchema).toMatchObject({ type: "object", additionalProperties: false })
      ajv.compile(tool.inputSchema)
      if (tool.outputSchema !== undefined) ajv.compile(tool.outputSchema)
      const verb = tool.name.replace("hub_", "").split("_")[0] ?? ""
      const reads =
        ["list", "listing", "get", "find", "directory", "server", "skills", "wait", "whoami"].includes(verb) ||
        /^(business_config|hub_composites|hub_browse_composites|hub_composite_skill)$/.test(tool.name)
      // It may be any of them.
      const isAny = tool.name === "call_tool"
      const removes = ["delete", "revoke", "cancel"].includes(verb) || tool.name === "import_discard"
      expect(tool.annotations, tool.name).toMatchObject({
        readOnlyHint: reads,
        // A revert takes things away, and tells what; an upload takes the document before it away; a plan costs money.
        destructiveHint: removes || isAny ||
          ["import_revert", "hub_upload_capability_doc", "change_plan"].includes(tool.name),
        idempotentHint: removes || tool.name === "import_revert" ||
          !["add", "call", "confirm", "create", "import", "publish", "record", "deploy", "rollback", "verify"].includes(
            verb
          ),
        openWorldHint: expect.any(Boolean)
      })
      expect(tool.outputSchema === undefined, tool.name).toEqual(
        (removes || isAny || tool.name === "change_plan") && tool.name !== "cancel_deployment"
      )
    }
    await client.close()
  })

  it("says in deploy's text what a machine reaches by default, and which call allows a host", async () => {
    const client = await connectMcp(berth.url, { token: owner.token })
    const text = (await client.listTools()).tools.find(({ name }) => name === "deploy")?.description
    await client.close()
    expect(new Set(Object.values(plans).map(({ egress }) => egress))).toEqual(new Set(["none"]))
    expect(text).toContain("Outside it reaches what its egress says, by default \"none\" (by plan); ")
    const [, change = ""] = /update_server \(call_tool\) with egress: (\{.*?\}) allows a host/.exec(text ?? "") ?? []
    const server = await owner.server(project.id)
    const egress = JSON.parse(change.replace("add", "\"add\"")) as unknown
    const { body } = await owner.request("PATCH", `/v1/servers/${server.id}`, { body: { egress } })
    expect(body).toMatchObject({ data: { egress: { allow: ["api.example.com"] } } })
  })

  it("gives schemas that say of arguments what the tools do", async () => {
    const client = await connectMcp(berth.url, { token: owner.token, query: "?toolsets=all" })
    const { tools } = await client.listTools()
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    const schema = (name: string) => ajv.compile(tools.find((tool) => tool.name === name)?.inputSchema ?? {})
    const create = schema("create_server")
    const id = { projectId: project.id, name: "x" }
    for (const args of [id, { ...id, memoryMb: 512, region: "ams", autoStopSeconds: null, slug: "a-b" }]) {
      expect(create(args), JSON.stringify(args)).toBe(true)
    }
    const wrong = [{ name: "x" }, { ...id, memoryMb: 300 }, { ...id, region: "fra" }, { ...id, autoStopSeconds: 59 }]
      .concat({ ...id, name: "x".repeat(256) }, { ...id, slug: "A" } as never, { ...id, extra: 1 } as never)
      .concat({ ...id, autoStopSeconds: 60.5 })
    for (const args of wrong) expect(create(args), JSON.stringify(args)).toBe(false)
    const page = schema("list_projects")
    expect([page({}), page({ limit: 100 }), page({ limit: 0 }), page({ limit: 101 }), page({ limit: "1" })])
      .toEqual([true, true, false, false, false])
    await client.close()
  })
})

describe("structuredContent", () => {
  it("fits the output schema, exactly", async () => {
    const client = await connectMcp(berth.url, { token: owner.token, query: "?toolsets=all" })
    const { tools } = await client.listTools()
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    await owner.key(project.id)
    const calls: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>]> = [
      ["list_projects", {}],
      ["get_project", { projectId: project.id }],
      ["list_servers", {}],
      ["list_servers", { projectId: project.id }],
      ["get_server", { serverId: server.id }],
      ["create_server", { projectId: project.id, name: "x", autoStopSeconds: null }],
      ["create_api_key", { projectId: project.id, name: "x", scopes: ["servers:read"] }],
      ["list_api_keys", { projectId: project.id }],
      ["set_env", { serverId: server.id, name: "A", value: "x" }],
      ["list_env", { serverId: server.id }],
      ["get_logs", { serverId: server.id }],
      ["list_deployments", { serverId: server.id }],
      ["create_test_token", { serverId: server.id }],
      ["get_billing", {}]
    ]
    for (const [name, args] of calls) {
      const validate = ajv.compile(tools.find((tool) => tool.name === name)?.outputSchema ?? { not: {} })
      const { isError, structuredContent } = await callTool(client, name, args)
      expect(isError, name).toBe(undefined)
      expect([validate(structuredContent), validate.errors], name).toEqual([true, null])
      expect(validate({ ...structuredContent, extra: 1 }), name).toBe(false)
    }
    await client.close()
  })
})

describe("/mcp", () => {
  const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    owner.request("POST", "/mcp", { body, headers: { accept, ...headers } })

  it("sends no event stream to a client that rules them out: 406", async () => {
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" }
    expect((await post(ping, { accept: "application/json, text/event-stream;q=0.5" })).status).toBe(200)
    const refused = await post(ping, { accept: "application/json, text/event-stream;q=0" })
    expect([refused.status, refused.headers.get("content-type")]).toEqual([406, "application/json"])
  })

  it("keeps no session: any request can come first, and GET and DELETE have no meaning", async () => {
    const answer = await post(list)
    expect(answer.status).toBe(200)
    expect(answer.headers.get("mcp-session-id")).toBeNull()
    expect((await post(list, { "mcp-session-id": "stale" })).status).toBe(200)
    for (const method of ["GET", "DELETE"]) {
      const refused = await owner.request(method, "/mcp", { headers: { accept } })
      expect([refused.status, refused.headers.get("allow")], method).toEqual([405, "POST, OPTIONS"])
    }
  })

  it("answers what is no message with the protocol's own errors, and never fails on our side", async () => {
    const bodies: ReadonlyArray<unknown> = ["{", "null", "7", "{}", "[[]]", {
      jsonrpc: "1.0",
      id: 1,
      method: "x"
    }]
    for (const body of [...bodies, { jsonrpc: "2.0", id: {}, method: 7 }, { jsonrpc: "2.0", id: 1 }, "\"x\"", ""]) {
      const answer = await post(body)
      expect(answer.status, JSON.stringify(body)).toBe(400)
      expect(answer.headers.get("x-request-id")).toMatch(/\S/)
    }
    const unknown = await post({ jsonrpc: "2.0", id: 7, method: "no/such" })
    expect([unknown.status, unknown.text]).toEqual([200, expect.stringContaining("-32601")])
    for (
      const params of [null, [], "x", {}, { name: 7 }, { name: "get_server", arguments: [] }, { name: "__proto__" }]
    ) {
      const answer = await post({ jsonrpc: "2.0", id: 1, method: "tools/call", params })
      expect([answer.status < 500, answer.text], JSON.stringify(params)).toEqual([
        true,
        expect.stringContaining("error")
      ])
      expect(answer.text).not.toContain("INTERNAL_ERROR")
    }
  })

  it("takes a notification with 202, a batch of today, and an unknown revision with 400", async () => {
    const notification = await post({ jsonrpc: "2.0", method: "notifications/initialized" })
    expect([notification.status, notification.text]).toEqual([202, ""])
    expect((await post(list, { "mcp-protocol-version": "1999-01-01" })).status).toBe(400)
    expect((await post(list, { "mcp-protocol-version": "2025-06-18" })).status).toBe(200)
  })

  it("refuses a body over the limit with 413, and one nested too deep with 400", async () => {
    const big = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "x", arguments: { a: "x".repeat(1 << 20) } }
    }
    expect((await post(big)).status).toBe(413)
    const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_project","arguments":{"name":${
      "[".repeat(50_000)
    }${"]".repeat(50_000)}}}}`
    expect((await post(deep)).status).toBe(400)
  })

  it("lets a browser ask first", async () => {
    for (const path of ["/mcp", "/sse", "/message"]) {
      const headers = { origin: "https://console.example.com", "access-control-request-method": "POST" }
      const answer = await berth.request("OPTIONS", path, { headers })
      expect(answer.status, path).toBe(204)
      expect(answer.headers.get("access-control-allow-methods")).toContain("POST")
      const allowed = answer.headers.get("access-control-allow-headers")?.split(", ")
      expect(allowed).toEqual(
        expect.arrayContaining(["authorization", "mcp-protocol-version", "mcp-method", "mcp-name"])
      )
      expect(answer.headers.get("vary")).toBe("Origin")
      const foreign = await berth.request("OPTIONS", path, { headers: { ...headers, origin: "https://evil.example" } })
      expect(foreign.status, path).toBe(403)
    }
  })
})

describe("/sse and /message", () => {
  it("belong together by credential: another's session is 404, as one that never was", async () => {
    const error = { code: -32001, message: expect.any(String) as string, data: { code: "NOT_FOUND" } }
    const lost = { jsonrpc: "2.0", id: list.id, error }
    const stream = await openSse(owner.token)
    const other = await berth.signUp()
    const mine = { token: (await owner.key(project.id)).key }
    for (const token of [other.token, mine.token]) {
      const answer = await berth.request("POST", stream.path, { token, body: list })
      expect([answer.status, answer.body]).toEqual([404, lost])
    }
    expect((await berth.request("POST", stream.path, { body: list })).status).toBe(401)
    for (const path of ["/message", "/message?sessionId=", "/message?sessionId=00000000-0000-4000-8000-000000000000"]) {
      const answer = await owner.request("POST", path, { body: list })
      expect([answer.status, answer.body], path).toEqual([404, lost])
    }
    expect((await owner.request("POST", stream.path, { body: initialize })).status).toBe(202)
    await stream.said(/event: message\ndata: .*"serverInfo"/)
    stream.close()
  })

  it("end with the stream: its session is gone as soon as the client is", async () => {
    const stream = await openSse(owner.token)
    stream.close()
    let status = 0
    for (let i = 0; i < 100 && status !== 404; i++) {
      status = (await owner.request("POST", stream.path, { body: list })).status
      await setTimeout(20)
    }
    expect(status).toBe(404)
  })

  it("tell a bad message with 400, and go on", async () => {
    const stream = await openSse(owner.token)
    for (const body of ["{", "{}", "null", "[]", { jsonrpc: "1.0" }, ""]) {
      const answer = await owner.request("POST", stream.path, { body })
      expect([answer.status, answer.body], JSON.stringify(body)).toEqual([400, failure("BAD_REQUEST")])
    }
    const nothing = await owner.request("POST", stream.path)
    expect([nothing.status, nothing.body]).toEqual([400, failure("BAD_REQUEST")])
    expect((await owner.request("POST", stream.path, { body: initialize })).status).toBe(202)
    await stream.said(/"serverInfo"/)
    stream.close()
  })

  it("carry the headers that every answer carries", async () => {
    const stream = await openSse(owner.token)
    const { headers } = stream.response
    expect(headers["content-type"]).toBe("text/event-stream; charset=utf-8")
    for (const name of ["x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]) {
      expect(headers[name], name).toEqual(expect.stringMatching(/\S/))
    }
    stream.close()
  })

  it("stop obeying a credential that was taken back", async () => {
    const key = await owner.key(project.id)
    const stream = await openSse(key.key)
    await owner.delete(`/v1/keys/${key.id}`)
    expect((await berth.request("POST", stream.path, { token: key.key, body: list })).status).toBe(401)
    stream.close()
  })
})
