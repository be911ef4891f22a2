import { everyday } from "#tools/everyday.ts"
import { type Client } from "@modelcontextprotocol/sdk/client/index.js"
import { beforeAll, describe, expect, it } from "vitest"
import { berthCli } from "../cli/mcp/run.ts"
import { failure } from "../contract/shapes.ts"
import { type Account, type Project, type Server } from "../support/account.ts"
import { useBerth } from "../support/Berth.ts"
import { hubKey } from "../support/composites.ts"
import { callTool, connectMcp, textOf, type Way } from "../support/mcp.ts"

const berth = useBerth()
let owner: Account
let project: Project
let server: Server
let client: Client
let keyClient: Client
let agent: Client

beforeAll(async () => {
  owner = await berth.signUp("enterprise")
  project = await owner.project()
  server = await owner.server(project.id)
  client = await connectMcp(berth.url, { token: owner.token })
  keyClient = await connectMcp(berth.url, { token: (await owner.key(project.id, ["servers:read", "logs:read"])).key })
  agent = await connectMcp(berth.url, { token: (await hubKey(berth, owner)).token })
})

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)
const meta = ["find_tools", "call_tool"]

interface Found {
  readonly tools: ReadonlyArray<{
    readonly name: string
    readonly whenToUse: string
    readonly readOnly: boolean
    readonly destructive: boolean
    readonly inputSchema: object
    readonly outputSchema?: object
  }>
  readonly others: ReadonlyArray<{ readonly name: string }>
  readonly hint?: string
  readonly groups?: ReadonlyArray<
    { readonly about: string; readonly toolset: string; readonly tools: ReadonlyArray<string> }
  >
}
const find = async (query: string, by = client, more: Readonly<Record<string, unknown>> = {}) => {
  const { isError, structuredContent } = await callTool(by, "find_tools", { query, ...more })
  expect(isError, query).toBe(undefined)
  return structuredContent as unknown as Found
}

describe("the list of tools by default", () => {
  it("costs a session at most 8,000 tokens, some three and a half bytes each", async () => {
    const { tools } = await client.listTools()
    expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThan(27_000)
    for (const tool of tools) expect(tool.outputSchema, tool.name).toBe(undefined)
  })

  it("is the everyday tools that the credential may call, and those that find and call all others", async () => {
    expect(await namesOf(client)).toEqual([...everyday, ...meta])
    const bySse = await connectMcp(berth.url, { token: owner.token, way: "SSE" })
    expect(await namesOf(bySse)).toEqual([...everyday, ...meta])
    await bySse.close()
    expect(await namesOf(keyClient)).toEqual([
      "whoami",
      "list_projects",
      "list_servers",
      "get_server",
      "get_logs",
      "directory_search",
      "hub_listing_skill",
      "list_plans",
      ...meta
    ])
    expect(await namesOf(agent)).toEqual([
      "whoami",
      "directory_search",
      "hub_composites",
      "hub_browse_composites",
      "hub_listing_skill",
      "create_server_token",
      "list_plans",
      ...meta
    ])
  })

  it("says call_tool wherever a text names a tool that is not in it", async () => {
    const { tools } = await client.listTools()
    const all = await connectMcp(berth.url, { token: owner.token, query: "?toolsets=all" })
    const names = new Set(await namesOf(all))
    await all.close()
    for (const { name } of tools) names.delete(name)
    const unexplained = new RegExp(`\\b(?:${[...names].join("|")})\\b(?![^.;:]*\\(call_tool\\))`, "g")
    expect("stop_server ends it, a start_server (call_tool) follows; stop_server".match(unexplained)).toHaveLength(1)
    for (const tool of tools) expect(JSON.stringify(tool).match(unexplained), tool.name).toBe(null)
  })

  it("is the same each time, to the byte, and for each credential of a kind: a prompt cache lasts", async () => {
    const other = await berth.signUp("free")
    const listed = async (token: string) => {
      const one = await connectMcp(berth.url, { token })
      const text = JSON.stringify((await one.listTools()).tools)
      await one.close()
      return text
    }
    const first = await listed(owner.token)
    await callTool(client, "find_tools", { query: "delete a server" })
    expect(await listed(owner.token)).toBe(first)
    expect(await listed(other.token)).toBe(first)
  })
})

describe("?toolsets= and the header Toolsets", () => {
  it("mean the same; the query counts where both are there", async () => {
    const names = async (query: string, header?: string) => {
      const one = await connectMcp(berth.url, {
        token: owner.token,
        query,
        ...(header === undefined ? {} : { headers: { toolsets: header } })
      })
      const { tools } = await one.listTools()
      await one.close()
      return tools
    }
    const billing = await names("?toolsets=billing")
    expect(billing.find(({ name }) => name === "list_plans")?.outputSchema).toMatchObject({ type: "object" })
    expect(await names("", "billing")).toEqual(billing)
    expect(await names("?toolsets=billing", "hub")).toEqual(billing)
    const all = await names("", "all")
    expect(all.length).toBeGreaterThan(80)
    expect(all).toEqual(await names("?toolsets=all"))
    expect(all.map(({ name }) => name).slice(-2)).toEqual(meta)
  })

  it("are 400 with a group that there is not", async () => {
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list" }
    const answer = await owner.request("POST", "/mcp", { body, headers: { toolsets: "deploy,x" } })
    expect([answer.status, answer.body]).toEqual([400, failure("BAD_REQUEST")])
    expect(answer.text).toContain("\\\"x\\\" is not one of deploy, hub, directory, billing, all")
  })
})

describe("find_tools", () => {
  const jobs: ReadonlyArray<readonly [string, string]> = [
    ["delete a server", "delete_server"],
    ["take my app down for a while", "stop_server"],
    ["reboot", "restart_server"],
    ["open up the firewall to api.example.com", "update_server"],
    ["give somebody read-only access with a key", "create_api_key"],
    ["rotate a secret", "set_env"],
    ["remove an environment variable", "delete_env"],
    ["undo a release", "rollback"],
    ["abort a deployment", "cancel_deployment"],
    ["is there something insecure in what I am running", "list_vulnerabilities"],
    ["latency and traffic of a server", "get_server_metrics"],
    ["who has access to my account through OAuth", "list_grants"],
    ["disconnect an app", "revoke_grant"],
    ["opening hours", "update_business"],
    ["take down a business", "delete_business"],
    ["take down a business for now", "set_visibility"],
    ["share a server read-only with a colleague", "create_api_key"],
    ["hide my shop from the directory", "set_visibility"],
    ["verify phone by sms", "verify_phone"],
    ["add a dish to the menu", "create_catalog_item"],
    ["undo an import", "import_revert"],
    ["statistics of views and clicks", "hub_listing_analytics"],
    ["what people searched for and did not find", "hub_list_unmet_searches"],
    ["make an agent key for the hub", "hub_create_key"],
    ["group several restaurants", "hub_create_composite"],
    ["ask several businesses as one server", "hub_create_composite"],
    ["pay for a bigger plan", "subscribe"],
    ["how much is left of my quota", "get_usage"],
    ["downgrade", "change_plan"],
    ["update_listing", "update_listing"],
    ["deleting servers", "delete_server"],
    ["restrat server", "restart_server"],
    ["deploymnet", "get_deployment"],
    ["enviroment varaible", "set_env"],
    ["rolbak", "rollback"],
    ["lgos", "get_logs"],
    ["subscripton", "cancel_subscription"]
  ]

  it.each(jobs)("%s: %s is among the best", async (query, name) => {
    const found = await find(query)
    expect([...found.tools, ...found.others].slice(0, 5).map((one) => one.name)).toContain(name)
  })

  const first: ReadonlyArray<readonly [string, string]> = [
    ["make a server owner only", "configure_server_auth"],
    ["make server private", "configure_server_auth"],
    ["unlist business", "set_visibility"],
    ["remove business from directory", "set_visibility"],
    ["delete a business for good", "delete_business"],
    ["see spending", "get_billing"],
    ["health of my server", "get_server"],
    ["kill my machine", "stop_server"],
    ["stop my machine", "stop_server"],
    ["share a server read-only", "create_api_key"],
    ["remove my server for good", "delete_server"],
    ["end my subscription", "cancel_subscription"],
    ["increase the memory of my server", "update_server"],
    ["add an environment variable to my server", "set_env"],
    ["mark an item sold out", "update_catalog_item"],
    ["set opening hours for christmas", "update_business"],
    ["call another business's server", "create_server_token"],
    ["let my colleague use my server", "configure_server_auth"],
    ["call get_usage for me", "get_usage"],
    ["stop the deployment", "cancel_deployment"],
    ["import", "import"]
  ]

  it.each(first)("%s: %s is the first", async (query, name) => {
    expect((await find(query)).tools[0]?.name).toBe(name)
  })

  it.each([
    "composite",
    "browse composites",
    "show composites",
    "server",
    "business",
    "project",
    "api key",
    "registry",
    "image",
    "environment variable",
    "catalog item",
    "grant",
    "import",
    "plan",
    "health of my server",
    "see spending",
    "unlist business"
  ])("%s: of those shown whole, none that loses something comes before others, as nothing says so", async (query) => {
    const { tools } = await find(query)
    const losing = tools.map(({ destructive }) => destructive)
    expect(losing).toEqual(losing.toSorted((a, b) => Number(a) - Number(b)))
    expect(losing[0]).toBe(false)
  })

  it("tells of each when to use it, what it undoes, and both schemas, as the whole list has them", async () => {
    const all = await connectMcp(berth.url, { token: owner.token, query: "?toolsets=all" })
    const { tools } = await all.listTools()
    await all.close()
    for (const listed of tools.filter(({ name }) => !meta.includes(name))) {
      const { tools: [found] } = await find(listed.name, client, { limit: 1 })
      expect(found, listed.name).toEqual({
        name: listed.name,
        title: listed.title,
        whenToUse: listed.description,
        readOnly: listed.annotations?.readOnlyHint,
        destructive: listed.annotations?.destructiveHint,
        inputSchema: listed.inputSchema,
        ...(listed.outputSchema === undefined ? {} : { outputSchema: listed.outputSchema })
      })
    }
  })

  it("shows three whole unless it is asked for more, and names others", async () => {
    const found = await find("server")
    expect([found.tools.length, found.others.length]).toEqual([3, 7])
    expect((await find("server", client, { limit: 10 })).tools.length).toBe(10)
  })

  it("says which matches need another credential, and how to get it, as the refused call does", async () => {
    const exact = await find("hub_browse_composites", keyClient)
    expect(exact.tools).toEqual([])
    const needed =
      "needs a session (log in), an OAuth sign-in or a hub key; make one with POST /api/v1/hub/api-keys (the tool hub_create_key)"
    expect(exact.hint).toBe(`Your credential may not call hub_browse_composites: that ${needed}.`)
    expect(textOf(await callTool(keyClient, "hub_browse_composites"))).toMatchObject({
      error: { message: expect.stringContaining(needed) as unknown }
    })
    expect((await find("delete a server", keyClient)).hint).toContain(
      "may not call delete_server: that needs the scope servers:write"
    )
    expect((await find("who has access through OAuth", agent)).hint).toContain("list_grants: that needs a session")
    expect((await find("hub_browse_composites", agent)).hint).toBe(undefined)
  })

  it("lists no tool that the credential may not call", async () => {
    for (const query of ["delete server", "composite", "key", "zzzzqqqq"]) {
      for (const by of [keyClient, agent]) {
        const { groups = [], others, tools } = await find(query, by)
        const told = [...tools, ...others].map(({ name }) => name).concat(groups.flatMap((group) => group.tools))
        for (const name of ["delete_server", "create_api_key", "hub_create_key"]) expect(told).not.toContain(name)
      }
    }
    expect((await find("promote a composite", agent)).tools[0]?.name).toBe("hub_promote_composite")
    const explorer = await connectMcp(berth.url, { token: (await hubKey(berth, owner, "explorer")).token })
    const { hint, tools } = await find("hub_promote_composite", explorer)
    expect(tools).toEqual([])
    expect(hint).toContain(
      "may not call hub_promote_composite: that needs a session (log in) or a hub key of tier builder or higher; make one"
    )
    await explorer.close()
  })

  it.each([
    "xyzzy",
    "frobnicate the flux capacitor",
    "purple elephants",
    "what is the meaning of life",
    "tell me a joke",
    "weather in Paris",
    "play music",
    "hello",
    "close my account",
    "delete my account",
    "change password",
    "reset my password",
    "invite a teammate",
    "order food",
    "book a table",
    "send an email",
    "create a database",
    "set my own domain for a server",
    "???"
  ])("finds nothing for %s, and says so", async (query) => {
    const { groups = [], hint, others, tools } = await find(query)
    expect([tools, others]).toEqual([[], []])
    expect(hint).toContain(`No tool that you may call matches "${query}".`)
    expect(groups.length).toBeGreaterThan(10)
  })

  it("tells words close to those that no tool has", async () => {
    expect((await find("compositions")).hint).toContain("Words close to yours: composites.")
  })

  it("lists the groups of all tools where nothing matches: every tool is in one", async () => {
    const { groups = [], tools } = await find("zzzzqqqq")
    expect(tools).toEqual([])
    for (const { toolset } of groups) expect(["deploy", "hub", "directory", "billing"]).toContain(toolset)
    const all = await connectMcp(berth.url, { token: owner.token, query: "?toolsets=all" })
    const names = (await namesOf(all)).filter((name) => !meta.includes(name))
    await all.close()
    expect(new Set(groups.flatMap((group) => group.tools))).toEqual(new Set(names))
  })
})

describe.each<Way>(["Streamable HTTP", "SSE"])("call_tool over %s", (way) => {
  it("does what the tool does, with its answer and its errors", async () => {
    const one = await connectMcp(berth.url, { token: owner.token, way })
    const both = async (name: string, args: Readonly<Record<string, unknown>>) => [
      await callTool(one, "call_tool", { name, arguments: args }),
      await callTool(one, name, args)
    ]
    const calls: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>]> = [
      ["list_env", { serverId: server.id }],
      ["get_server", { serverId: "none" }],
      ["update_server", { serverId: server.id, memoryMb: "512" }],
      ["update_server", { serverId: server.id, memoryMb: 7, extra: 1 }],
      ["get_business", { businessId: "none" }],
      ["hub_composites", {}],
      ["find_tools", { query: "x", limit: 0 }]
    ]
    for (const [name, args] of calls.slice(0, -1)) {
      const [called, direct] = await both(name, args)
      const timeless = (value: unknown) =>
        JSON.parse(JSON.stringify(value).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "")) as unknown
      expect(timeless(called), name).toEqual(timeless(direct))
    }
    await one.close()
  })

  it("takes tools without arguments, and is refused what the credential may not do", async () => {
    expect((await callTool(client, "call_tool", { name: "list_grants" })).isError).toBe(undefined)
    const refused = await callTool(keyClient, "call_tool", {
      name: "update_server",
      arguments: { serverId: server.id, name: "x" }
    })
    expect([refused.isError, textOf(refused)]).toEqual([
      true,
      failure("FORBIDDEN", { requiredScopes: ["servers:write"] })
    ])
  })

  it("says of itself and of find_tools that they are called directly", async () => {
    for (const name of meta) {
      expect(textOf(await callTool(client, "call_tool", { name }))).toMatchObject({
        error: { message: expect.stringMatching(/^call_tool does not call .* directly/) as unknown }
      })
    }
  })

  it("suggests a name where there is no such tool, as a direct call does", async () => {
    const wrong = await callTool(client, "call_tool", { name: "delete_servr" })
    expect([wrong.isError, textOf(wrong)]).toMatchObject([true, {
      error: {
        code: "NOT_FOUND",
        message: expect.stringMatching(/Did you mean "delete_server"\?.*find_tools/) as string
      }
    }])
    await expect(client.callTool({ name: "delete_servr" })).rejects.toThrow(/Did you mean "delete_server"\?/)
    const without = await callTool(client, "call_tool", {})
    expect(textOf(without)).toMatchObject({
      error: { code: "VALIDATION_ERROR", details: { issues: [{ path: "name", message: "is required" }] } }
    })
  })

  it("and find_tools are called from a terminal as any tool is", async () => {
    const berthCall = (...args: ReadonlyArray<string>) =>
      berthCli(["call", `${berth.url}/mcp`, ...args, "--token", owner.token])
    const found = await berthCall("find_tools", "--arg", "query=list environment variables")
    expect([found.code, found.out], found.err).toEqual([0, expect.stringContaining("list_env")])
    const args = JSON.stringify({ name: "get_server", arguments: { serverId: server.id } })
    const called = await berthCall("call_tool", "--input", args, "--field", "id")
    expect([called.code, called.out.trim()], called.err).toEqual([0, server.id])
  })

  it("counts in the caller's rate as one call", async () => {
    const body = (params: object) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params })
    const left = async (params: object) => {
      const headers = { accept: "application/json, text/event-stream" }
      const answer = await owner.request("POST", "/mcp", { body: body(params), headers })
      return Number(answer.headers.get("x-ratelimit-remaining"))
    }
    const before = await left({ name: "whoami" })
    expect(await left({ name: "call_tool", arguments: { name: "whoami" } })).toBe(before - 1)
  })
})
