import { createMcpHandler, McpServer as ModernServer } from "@modelcontextprotocol/server"
import { type IncomingMessage, type RequestListener } from "node:http"
import { text } from "node:stream/consumers"
import { describe, expect, it } from "vitest"
import { answering, listing, sseOnly, stateful, tools, tryWith } from "./support/mcp-servers.ts"

describe("the MCP handshake with a new machine", () => {
  it("takes Streamable HTTP, in a session that it ends, from a server that answers to localhost alone", async () => {
    const ended: Array<string> = []
    const report = await tryWith(stateful(ended))
    expect(report).toMatchObject({
      ok: true,
      transport: "streamable-http",
      revision: "2025-11-25",
      toolCount: 2,
      tools,
      problem: null
    })
    await expect.poll(() => ended.length).toBe(1)
  })

  it.each([
    ["/message", "https://berth.test/s/app"],
    ["http://localhost:8080/message", "https://berth.test/s/app"],
    ["https://berth.test/s/app/message", "https://berth.test/s/app"],
    ["https://berth.test/message", "https://berth.test/s/app"],
    ["https://app.mcp.test/message", "https://app.mcp.test"]
  ])("takes the older transport where it calls itself %s, at %s", async (endpoint, publicUrl) => {
    const report = await tryWith(sseOnly(endpoint), { publicUrl })
    expect(report).toMatchObject({ ok: true, transport: "sse", revision: "2025-11-25", tools, problem: null })
  })

  it.each(["https://evil.example/message", "http://[", "https://berth.test/s/other/message", "https://berth.test/v1"])(
    "posts nowhere else: an endpoint %s is a problem",
    async (endpoint) => {
      const report = await tryWith(sseOnly(endpoint))
      const why = endpoint === "http://[" ? "no URL" : "not the server's own"
      // What is below the origin is put below the server's own path, as the gateway does it.
      expect(report).toMatchObject(
        endpoint.startsWith("https://berth.test")
          ? { ok: false, problem: expect.stringContaining("/sse (initialize) answered with status 404") }
          : { ok: false, transport: null, problem: expect.stringContaining(why) }
      )
    }
  )

  it("speaks 2026-07-28 to a server that knows no handshake", async () => {
    const make = () => {
      const server = new ModernServer({ name: "strict", version: "1" })
      server.registerTool("look", { description: "Looks." }, () => ({ content: [] }))
      return server
    }
    const handler = createMcpHandler(make, { legacy: "reject" })
    const report = await tryWith((req, res) =>
      void (async () => {
        const headers = Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)])
        const answer = await handler.fetch(
          new Request(`http://x${req.url}`, { method: "POST", headers, body: await text(req) })
        )
        res.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
      })()
    )
    expect(report).toMatchObject({
      ok: true,
      transport: "streamable-http",
      revision: "2026-07-28",
      tools: [{ name: "look", description: "Looks." }]
    })
  })

  it.each(["\n", "\r", "\r\n"])("reads event streams with the line end %j, however they are cut", async (end) => {
    const server: RequestListener = (req, res) => {
      void text(req).then(async (body) => {
        const { id, method } = JSON.parse(body)
        const result = method === "initialize"
          ? { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "x", version: "1" } }
          : { tools: [{ name: "look", inputSchema: { type: "object" } }] }
        res.writeHead(200, { "content-type": "text/event-stream" })
        const answer = `: hello${end}${end}event: message${end}data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}`
        for (const character of `${answer}${end}${end}${end}`.match(/\r|\n|[^\r\n]+/g)!) {
          res.write(character)
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
        res.end()
      })
    }
    expect(await tryWith(server)).toMatchObject({ ok: true, toolCount: 1, problem: null })
  })

  it("asks as the gateway will: Host, public name, prefix, gateway's token, access token", async () => {
    const seen: Array<IncomingMessage["headers"]> = []
    await tryWith(answering(() => ({ tools: [] }), seen))
    expect(seen.map((headers) => headers["mcp-protocol-version"])).toEqual([undefined, "2025-06-18", "2025-06-18"])
    for (const headers of seen) {
      expect(headers).toMatchObject({
        host: "localhost:8080",
        "x-forwarded-host": "berth.test",
        "x-forwarded-proto": "https",
        "x-forwarded-prefix": "/s/app",
        "x-berth-gateway-token": "replay",
        authorization: "Bearer of-owner"
      })
    }
    seen.length = 0
    await tryWith(answering(() => ({ tools: [] }), seen), { token: undefined, publicUrl: "http://app.mcp.test:8787" })
    expect(seen[0]).toMatchObject({ "x-forwarded-host": "app.mcp.test:8787" })
    expect(seen[0]).not.toHaveProperty("authorization")
    expect(seen[0]).not.toHaveProperty("x-forwarded-prefix")
  })

  it("follows a server's redirects within itself, and none beyond", async () => {
    const inner = listing([{ name: "look" }])
    const redirecting = (location: string): RequestListener => (req, res) => {
      if (req.url === "/mcp") return void res.writeHead(307, { location }).end()
      req.url = req.url === "/mcp/" ? "/mcp" : "/nowhere"
      inner(req, res)
    }
    for (const location of ["/mcp/", "http://localhost:8080/mcp/", "mcp/"]) {
      expect(await tryWith(redirecting(location)), location).toMatchObject({ ok: true, toolCount: 1 })
    }
    const beyond = await tryWith(redirecting("https://evil.example/mcp"))
    expect(beyond).toMatchObject({ ok: false, problem: expect.stringContaining("not the server's own") })
    const round = await tryWith((_, res) => void res.writeHead(307, { location: "/mcp" }).end())
    expect(round.problem).toContain("status 307")
  })

  it("a server without tools is one with none", async () => {
    const server: RequestListener = (req, res) => {
      void text(req).then((body) => {
        const { id, method } = JSON.parse(body)
        const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "x", version: "1" } }
        const answer = method === "initialize" ? { result } : { error: { code: -32601, message: "Method not found" } }
        res.writeHead(200, { "content-type": "application/json" }).end(
          JSON.stringify({ jsonrpc: "2.0", id, ...answer })
        )
      })
    }
    expect(await tryWith(server)).toMatchObject({ ok: true, toolCount: 0, tools: [], problem: null })
  })
})
