import { type CallToolResult, CallToolResultSchema, ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { beforeAll, describe, expect, it } from "vitest"
import { useProgram } from "../program/support/program.ts"
import { describeWhen, soak } from "../support/needs.ts"
import { type Doors, doorsOf } from "./support/addresses.ts"
import { inspector, refusedMcpRemote, throughMcpRemote } from "./support/peer-programs.ts"
import { findPeers } from "./support/peers.ts"

const found = await findPeers()

const menuTools = ["get_business", "get_hours", "browse_catalog", "search_catalog", "get_item"]
const directoryTools = ["search_businesses", "discover_nearby", "get_business", "get_menus", "get_order_link"]
const platformTools = ["list_projects", "create_server", "deploy", "get_logs"]

describeWhen(typeof found === "string" ? found : undefined, "clients that others made", () => {
  if (typeof found === "string") return
  const program = useProgram()
  let doors: Doors
  beforeAll(async () => {
    doors = await doorsOf(program())
  })

  /** Each door under each of its addresses, over both transports. */
  const ways = [
    ["the restaurant, path form", () => `${doors.hosted["path form"]}/mcp`],
    ["the restaurant, path form, SSE", () => `${doors.hosted["path form"]}/sse`],
    ["the restaurant, host form", () => `${doors.hosted["host form"]}/mcp`],
    ["the restaurant, host form, SSE", () => `${doors.hosted["host form"]}/sse`],
    ["the platform", () => `${doors.platform}/mcp`],
    ["the platform, SSE", () => `${doors.platform}/sse`]
  ] as const

  /** Where one address a door is enough. */
  const oneADoor = ways.filter(([name]) => soak || /^the (platform|restaurant, path form)$/.test(name))

  const isPlatform = (name: string) => name.startsWith("the platform")
  const rightToken = (name: string) => isPlatform(name) ? doors.tokens.session : doors.tokens.hosted
  const wrongTokens = (name: string) => [undefined, isPlatform(name) ? doors.tokens.hosted : doors.tokens.other]
  const toolsOf = (name: string) => expect.arrayContaining(isPlatform(name) ? platformTools : menuTools)
  const expectAnswer = (name: string, { structuredContent }: CallToolResult) =>
    expect(structuredContent).toMatchObject(
      isPlatform(name) ? { data: [{ name: "Demo" }] } : { items: [{ name: "Smoked Trout Toast" }] }
    )

  describe("the Inspector's command line", () => {
    const inspect = inspector(found)

    // Over SSE, and in the other form of the address, mcp-remote lists them below.
    it.each(oneADoor)("lists the tools of %s and finds their schemas portable", async (name, url) => {
      // --strict: exit code 6 when a schema would not do everywhere.
      const listed = await inspect(url(), rightToken(name), "--method", "tools/list", "--strict")
      expect(listed.code, listed.err).toBe(0)
      expect(ListToolsResultSchema.parse(JSON.parse(listed.out)).tools.map(({ name }) => name)).toEqual(toolsOf(name))
    }, 120_000)

    it.each(ways)("calls a tool of %s", async (name, url) => {
      const call = isPlatform(name)
        ? ["--tool-name", "list_projects"]
        : ["--tool-name", "search_catalog", "--tool-arg", "query=trout"]
      const called = await inspect(url(), rightToken(name), "--method", "tools/call", ...call)
      expect(called.code, called.err).toBe(0)
      expectAnswer(name, CallToolResultSchema.parse(JSON.parse(called.out)))
    }, 120_000)

    it.each(oneADoor)("is refused by %s without a token, and with one for somewhere else", async (name, url) => {
      const refusals = wrongTokens(name).map((token) => inspect(url(), token, "--method", "tools/list"))
      for (const refused of await Promise.all(refusals)) {
        expect(refused).toMatchObject({ code: 3, out: "" })
        expect(refused.err).toContain("auth_required")
      }
    }, 120_000)
  })

  describe.each(ways)("mcp-remote at %s", (name, url) => {
    it("brings the tools to a client that speaks stdio alone", async () => {
      const client = await throughMcpRemote(found, url(), rightToken(name))
      try {
        expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(toolsOf(name))
        const call = isPlatform(name)
          ? { name: "list_projects", arguments: {} }
          : { name: "search_catalog", arguments: { query: "trout" } }
        expectAnswer(name, CallToolResultSchema.parse(await client.callTool(call)))
      } finally {
        await client.close()
      }
    }, 120_000)
  })

  it("the Inspector and mcp-remote use the directory's door without a token", async () => {
    const url = `${doors.platform}/mcp/directory`
    const listed = await inspector(found)(url, undefined, "--method", "tools/list", "--strict")
    expect(listed.code, listed.err).toBe(0)
    expect(ListToolsResultSchema.parse(JSON.parse(listed.out)).tools.map(({ name }) => name)).toEqual(directoryTools)
    const client = await throughMcpRemote(found, url, undefined)
    try {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(directoryTools)
      const call = { name: "search_businesses", arguments: { query: "ladle" } }
      expect(CallToolResultSchema.parse(await client.callTool(call)).structuredContent)
        .toMatchObject({ businesses: expect.any(Array) as unknown })
    } finally {
      await client.close()
    }
  }, 120_000)

  // It takes a refusal for an invitation to sign in, and finds where by itself.
  it.each(oneADoor)(
    "mcp-remote is told to sign in at %s without a token, and with one for somewhere else",
    async (name, url) => {
      for (
        const refused of await Promise.all(wrongTokens(name).map((token) => refusedMcpRemote(found, url(), token)))
      ) {
        expect(refused.out).toBe("")
        expect(refused.err).toMatch(/\/api\/v1\/oauth\/authorize\?\S*code_challenge_method=S256/)
      }
    },
    120_000
  )
})
