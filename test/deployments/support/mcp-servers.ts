import { makeDoor } from "#src/deployments/handshake/door.ts"
import { handshake } from "#src/deployments/handshake/handshake.ts"
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http"
import { type AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { afterEach } from "vitest"

const servers: Array<Server> = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

export interface Options {
  readonly publicUrl?: string
  readonly token?: string | undefined
  readonly seconds?: number
  readonly foreignIssuer?: string
  readonly interrupted?: AbortSignal
}

/** The handshake with a machine that answers so, and how long it took. */
export const tryWith = async (listener: RequestListener, options: Options = {}) => {
  const {
    foreignIssuer,
    interrupted = new AbortController().signal,
    publicUrl = "https://berth.test/s/app",
    seconds = 2
  } = options
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
  const report = await handshake(door, { port: 8080, seconds, foreignIssuer }, interrupted)
  return { ...report, took: performance.now() - started }
}

const withTools = () => {
  const server = new McpServer({ name: "x", version: "1" })
  const done = () => ({ content: [] })
  server.registerTool("look", { description: "Looks.\nThen tells." }, done)
  server.registerTool("wipe", { title: "Wipe all" }, done)
  return server
}
export const tools = [{ name: "look", description: "Looks. Then tells." }, { name: "wipe", description: "Wipe all" }]

type Body = IncomingMessage & { readonly body: unknown }

/** The SDK's own server with sessions; it answers in event streams and to localhost alone. */
export const stateful = (ended: Array<string> = []) => {
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
export const sseOnly = (endpoint: string): RequestListener => {
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

export interface Rpc {
  readonly id?: number
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** A stateless server by hand at /mcp: what it answers to each method. */
export const answering = (
  results: (rpc: Rpc) => unknown,
  seen: Array<IncomingMessage["headers"]> = [],
  capabilities: Readonly<Record<string, object>> = { tools: {} }
): RequestListener => (
  (req, res) => {
    seen.push(req.headers)
    if (req.url !== "/mcp") return void res.writeHead(404).end()
    void text(req).then(async (body) => {
      const rpc: Rpc = JSON.parse(body)
      if (rpc.id === undefined) return res.writeHead(202).end()
      const answer = rpc.method === "initialize"
        ? { protocolVersion: "2025-06-18", capabilities, serverInfo: { name: "x", version: "1" } }
        : await results(rpc)
      res.writeHead(200, { "content-type": "application/json" })
      return res.end(JSON.stringify({ jsonrpc: "2.0", id: rpc.id, result: answer }))
    })
  }
)

export const listing = (list: unknown) => answering(() => ({ tools: list }))
