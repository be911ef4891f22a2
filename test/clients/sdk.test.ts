import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { beforeAll, describe, expect, it } from "vitest"
import { useProgram } from "../program/support/program.ts"
import { describeLong } from "../support/needs.ts"
import { type Doors, doorsOf } from "./support/addresses.ts"
import "./support/localhost-names.mjs"

const missing = process.platform === "linux" ? undefined : "machines run on Linux only"

const ways = {
  "Streamable HTTP": (base: string, requestInit: RequestInit) =>
    new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit }),
  SSE: (base: string, requestInit: RequestInit) => new SSEClientTransport(new URL(`${base}/sse`), { requestInit })
} as const
type Way = keyof typeof ways

const connect = async (way: Way, base: string, token: string | undefined) => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const client = new Client({ name: "test", version: "1" })
  // The SDK's transports predate `exactOptionalPropertyTypes`.
  await client.connect(ways[way](base, { headers }) as Transport)
  return client
}

const call = async (client: Client, name: string, args: Readonly<Record<string, unknown>> = {}) =>
  CallToolResultSchema.parse(await client.callTool({ name, arguments: { ...args } }))

describeLong("the SDK's own client", () => {
  const program = useProgram()
  let doors: Doors
  beforeAll(async () => {
    doors = await doorsOf(program())
  })

  describe.each(["Streamable HTTP", "SSE"] as const)("over %s", (way) => {
    it.each(["path form", "host form"] as const)(
      "reads the restaurant's menu at the %s of its address",
      async (form) => {
        const client = await connect(way, doors.hosted[form], doors.tokens.hosted)
        const { tools } = await client.listTools()
        expect(tools.map(({ name }) => name)).toEqual(
          expect.arrayContaining(["get_business", "get_hours", "browse_catalog", "search_catalog", "get_item"])
        )
        // The client validates it by the tool's output schema.
        const found = await call(client, "search_catalog", { query: "trout" })
        expect(found.structuredContent).toMatchObject({ items: [{ name: "Smoked Trout Toast" }] })
        expect(await call(client, "get_item", { itemId: "item_nowhere" })).toMatchObject({ isError: true })
        await client.close()
      }
    )

    it.each(["path form", "host form"] as const)(
      "is refused at the %s without a token, with another server's, and with a session",
      async (form) => {
        for (const token of [undefined, doors.tokens.other, doors.tokens.session, `${doors.tokens.hosted}x`]) {
          await expect(connect(way, doors.hosted[form], token)).rejects.toThrow(/401|Unauthorized|access token/)
        }
      }
    )

    it("works the platform itself with a session, and is refused without one or with a server's token", async () => {
      const client = await connect(way, doors.platform, doors.tokens.session)
      const { tools } = await client.listTools()
      expect(tools.map(({ name }) => name)).toEqual(
        expect.arrayContaining(["list_projects", "create_server", "deploy"])
      )
      const { structuredContent } = await call(client, "list_projects")
      expect(structuredContent).toMatchObject({ data: [{ name: "Demo" }] })
      await client.close()
      for (const token of [undefined, doors.tokens.hosted, `${doors.tokens.session}x`]) {
        await expect(connect(way, doors.platform, token)).rejects.toThrow(/401|UNAUTHORIZED|Unauthorized/)
      }
    })

    it("answers many calls at once, each its own", async () => {
      const client = await connect(way, doors.hosted["path form"], doors.tokens.hosted)
      const asked = ["trout", "burger", "tart", "cookie", "chicken", "whitefish"]
      const answers = await Promise.all(asked.map((query) => call(client, "search_catalog", { query })))
      answers.forEach(({ structuredContent }, at) => {
        expect(JSON.stringify(structuredContent).toLowerCase()).toContain(asked[at])
      })
      await client.close()
    })
  })
}, missing)
