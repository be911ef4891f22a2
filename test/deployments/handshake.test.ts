import { makeDoor } from "#src/deployments/handshake/door.ts"
import { handshake } from "#src/deployments/handshake/handshake.ts"
import { longestDescription, mostTools } from "#src/deployments/McpReport.ts"
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { createMcpHandler, McpServer as ModernServer } from "@modelcontextprotocol/server"
import { FastCheck as fc } from "effect"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http"
import { type AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { afterEach, describe, expect, it } from "vitest"

const servers: Array<Server> = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

interface Options {
  readonly publicUrl?: string
  readonly token?: string | undefined
  readonly seconds?: number
  readonly foreignIssuer?: string
}

/** The handshake with a machine that answers so, and how long it took. */
const tryWith = async (listener: RequestListener, options: Options = {}) => {
  const { foreignIssuer, publicUrl = "https://berth.test/s/app", seconds = 2 } = options
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const door = makeDoor({
    address: { _tag: "Tcp", host: "127.0.0.1", port },
    port: 8080,
    publicUrl,
    replayToken: "replay",
    token: "token" in options ? options.token : "of-owner"
  })
  const started = performance.now()
  const report = await handshake(door, { port: 8080, seconds, foreignIssuer }, new AbortController().signal)
  return { ...report, took: performance.now() - started }
}

const withTools = () => {
  const server = new McpServer({ name: "x", version: "1" })
  const done = () => ({ content: [] })
  server.registerTool("look", { description: "Looks.\nThen tells." }, done)
  server.registerTool("wipe", { title: "Wipe all" }, done)
  return server
}
const tools = [{ name: "look", description: "Looks. Then tells." }, { name: "wipe", description: "Wipe all" }]

type Body = IncomingMessage & { readonly body: unknown }

/** The SDK's own server with sessions; it answers in event streams and to localhost alone. */
const stateful = (ended: Array<string> = []) => {
  const app = createMcpExpressApp()
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  app.all("/mcp", async (req: Body, res: ServerResponse) => {
    const known = sessions.get(String(req.headers["mcp-session-id"]))
    if (known !== undefined) return known.handleRequest(req, res, req.body)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void ended.push(id)
    })
    await withTools().connect(transport as Transport)
    return transport.handleRequest(req, res, req.body)
  })
  return app
}

/** The older transport alone. `endpoint` is what the server calls its own address. */
const sseOnly = (endpoint: string): RequestListener => {
  const streams = new Map<string, SSEServerTransport>()
  return (req, res) => {
    const url = new URL(req.url ?? "/", "http://x")
    if (url.pathname === "/sse") {
      const transport = new SSEServerTransport("/message", res)
      streams.set(transport.sessionId, transport)
      const write = res.write.bind(res) as (text: string) => boolean
      res.write = ((chunk: string) => write(chunk.replace("data: /message", `data: ${endpoint}`))) as typeof res.write
      return void withTools().connect(transport)
    }
    const stream = streams.get(url.searchParams.get("sessionId") ?? "")
    if (url.pathname === "/message" && stream !== undefined) return void stream.handlePostMessage(req, res)
    res.writeHead(404).end()
  }
}

interface Rpc {
  readonly id?: number
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** A stateless server by hand at /mcp: what it answers to each method. */
const answering = (results: (rpc: Rpc) => unknown, seen: Array<IncomingMessage["headers"]> = []): RequestListener => (
  (req, res) => {
    seen.push(req.headers)
    if (req.url !== "/mcp") return void res.writeHead(404).end()
    void text(req).then((body) => {
      const rpc: Rpc = JSON.parse(body)
      if (rpc.id === undefined) return res.writeHead(202).end()
      const answer = rpc.method === "initialize"
        ? { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } }
        : results(rpc)
      res.writeHead(200, { "content-type": "application/json" })
      return res.end(JSON.stringify({ jsonrpc: "2.0", id: rpc.id, result: answer }))
    })
  }
)

const listing = (list: unknown) => answering(() => ({ tools: list }))

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

  const status = (code: number): RequestListener => (_, res) => void res.writeHead(code).end("no")
  const html: RequestListener = (_, res) => void res.writeHead(200, { "content-type": "text/html" }).end("<h1>Hi</h1>")
  it.each<[string, RequestListener, string, Options?]>([
    ["404 on both", status(404), "no MCP server was found: /mcp answered with status 404, /sse with 404; serve MCP at"],
    ["403", status(403), "/mcp (initialize) answered with status 403; requests come with Host: localhost:8080"],
    ["401", status(401), "accept the platform's access tokens"],
    ["401 of another issuer", status(401), "a token of https://id.example, which the platform has none of", {
      token: undefined,
      foreignIssuer: "https://id.example"
    }],
    ["500", status(500), "status 500; the server's log may say why"],
    ["a page", html, "answered 200 with text/html that is not a JSON-RPC answer"],
    ["dropped connections", (req) => void req.socket.destroy(), "did not answer: socket hang up"],
    ["no HTTP", (req) => void req.socket.end("\u0000\u0001 what\r\n\r\n"), "it does not speak HTTP"],
    [
      "an error",
      (_, res) =>
        void res.end(
          "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"no\\u0000 \\u001b[2Jdb\"}}"
        ),
      "the JSON-RPC error -32603, no [2Jdb;"
    ],
    [
      "a revision that is none",
      (_, res) => void res.end("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"<b>\"}}"),
      "without a protocolVersion"
    ],
    ["another's id", (_, res) => void res.end("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}"), "not a JSON-RPC answer"],
    [
      "an odd content type",
      (_, res) => void res.writeHead(200, { "content-type": "<script>" }).end("x"),
      "no content type"
    ]
  ])("names the problem: %s", async (_, listener, problem, options = {}) => {
    const report = await tryWith(listener, options)
    expect(report).toMatchObject({ ok: false, transport: null, revision: null, toolCount: 0, tools: [] })
    expect(report.problem).toContain(problem)

    expect(report.problem).not.toMatch(/[\u0000-\u001f]/)
  })

  it("keeps what it learnt before tools/list failed", async () => {
    for (const list of [{}, { tools: 7 }, null, { tools: {} }]) {
      expect(await tryWith(answering(() => list)), JSON.stringify(list)).toMatchObject({
        ok: false,
        transport: "streamable-http",
        revision: "2025-06-18",
        problem: expect.stringContaining("/mcp (tools/list) answered without a list of tools")
      })
    }
  })

  it("is over in time with a machine that is silent, that drips, that floods, and that streams without an end", async () => {
    const drip = (head: string, type: string): RequestListener => (_, res) => {
      res.writeHead(200, { "content-type": type })
      res.write(head)
      const timer = setInterval(() => res.write(" "), 5)
      res.on("close", () => clearInterval(timer))
    }
    const flood = (type: string, part: string): RequestListener => (_, res) => {
      res.writeHead(200, { "content-type": type })
      const more = () => {
        while (!res.destroyed && res.write(part));
      }
      res.on("drain", more)
      more()
    }
    const hostile: ReadonlyArray<readonly [string, RequestListener, string]> = [
      ["silent", () => undefined, "did not answer within 1 seconds"],
      ["drips JSON", drip("{", "application/json"), "did not answer within 1 seconds"],
      ["drips events", drip("data: ", "text/event-stream"), "did not answer within 1 seconds"],
      ["floods JSON", flood("application/json", "[".repeat(65_536)), "larger than 4194304 bytes"],
      ["floods events", flood("text/event-stream", "data: {}\n\n".repeat(5_000)), "more than 1000 events"],
      ["floods one line", flood("text/event-stream", `data: ${"x".repeat(65_536)}`), "larger than 4194304 bytes"]
    ]
    for (const [name, listener, problem] of hostile) {
      const report = await tryWith(listener, { seconds: 1 })
      expect(report.problem, name).toContain(problem)
      expect(report.took, name).toBeLessThan(2_500)
    }
  })

  it("ends at once when it is interrupted", async () => {
    const controller = new AbortController()
    const server = createServer(() => controller.abort())
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    const address = { _tag: "Tcp", host: "127.0.0.1", port } as const
    const door = makeDoor({ address, port, publicUrl: "http://x", replayToken: "r", token: undefined })
    const started = performance.now()
    await handshake(door, { port, seconds: 30, foreignIssuer: undefined }, controller.signal)
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

describe("the tools that are kept", () => {
  const named = (count: number, from = 0) => Array.from({ length: count }, (_, i) => ({ name: `tool_${from + i}` }))

  it("are all of its pages", async () => {
    const pages = answering(({ params }) => {
      const at = Number(params?.["cursor"] ?? 0)
      return { tools: named(10, at * 10), ...(at < 4 ? { nextCursor: String(at + 1) } : {}) }
    })
    expect(await tryWith(pages)).toMatchObject({ toolCount: 50, problem: null })
  })

  it.each<[string, (rpc: Rpc) => unknown]>([
    ["a list that is too long", () => ({ tools: named(100_000) })],
    ["pages that never end", ({ params }) => {
      const at = Number(params?.["cursor"] ?? 0)
      return { tools: named(3, at * 3), nextCursor: String(at + 1) }
    }],
    ["a page that names itself", () => ({ tools: named(1), nextCursor: "x" })],
    ["a cursor of a megabyte", () => ({ tools: named(1), nextCursor: "x".repeat(1_000_000) })]
  ])("are cut, and the cut is told: %s", async (_, results) => {
    const report = await tryWith(answering(results))
    expect(report.ok).toBe(true)
    expect(report.toolCount).toBeLessThanOrEqual(mostTools)
    expect(report.problem).toContain("only the first 200 tools and 20 pages are read")
  })

  it("have a name that shows as it is called, one of each, and a description that is one short line", async () => {
    const report = await tryWith(listing([
      { name: "good", description: `a\n\n\u0000\u202eb${"c".repeat(1_000_000)}` },
      { name: "good", description: "the second" },
      { name: "del\u200bete" },
      { name: "\u001b[31mred" },
      { name: "\ud800" },
      { name: " space" },
      { name: "" },
      { name: "x".repeat(129) },
      { name: 7 },
      null,
      "tool",
      { name: "` ](https://evil.example) <b>", description: 7 },
      { name: "__proto__", title: "Fine" }
    ]))
    expect(report.tools).toEqual([
      { name: "good", description: expect.stringMatching(/^a bc+…$/) },
      { name: "` ](https://evil.example) <b>", description: "" },
      { name: "__proto__", description: "Fine" }
    ])
    expect(report.tools[0]!.description.length).toBe(longestDescription)
    expect(report).toMatchObject({
      ok: true,
      toolCount: 3,
      problem: expect.stringContaining("10 of the tools are left out")
    })
  })

  it("can be stored and shown, whatever a machine lists", async () => {
    const values = fc.sample(fc.jsonValue(), 20)
    const hostile = fc.sample(
      fc.record({ name: fc.string({ unit: "binary" }), description: fc.string({ unit: "binary" }) }),
      200
    )
    const report = await tryWith(listing([...values, ...hostile]))
    expect(report.ok).toBe(true)
    for (const { description, name } of report.tools) {
      expect(`${name}${description}`).not.toMatch(/\p{Cc}|\p{Cs}|\p{Cf}/u)
      expect(name.length).toBeLessThanOrEqual(128)
    }
  })
})
