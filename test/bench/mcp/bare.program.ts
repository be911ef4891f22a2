/**
 * The least that a server with one tool can be, of the SDK of its era (`1`: up to 2025-11-25, `2`: 2026-07-28), in a
 * process of its own. Each request has a server of its own, as each of the platform's has. Tells its port.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { createMcpHandler, Server as NewServer } from "@modelcontextprotocol/server"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo } from "node:net"
import { text } from "node:stream/consumers"

const info = { name: "bare", version: "1.0.0" }
const capabilities = { tools: {} }
const tools = [{ name: "echo", inputSchema: { type: "object" as const, properties: { text: { type: "string" } } } }]
const echo = (args: Readonly<Record<string, unknown>> | undefined) => ({
  content: [{ type: "text" as const, text: JSON.stringify(args ?? {}) }]
})

const byOldSdk = async (req: IncomingMessage, res: ServerResponse, body: unknown) => {
  const server = new Server(info, { capabilities })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => echo(params.arguments))
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
  res.on("close", () => void transport.close())
  await server.connect(transport as Transport)
  await transport.handleRequest(req, res, body)
}

const handler = createMcpHandler(() => {
  const server = new NewServer(info, { capabilities })
  server.setRequestHandler("tools/list", () => ({ tools }))
  server.setRequestHandler("tools/call", ({ params }) => echo(params.arguments))
  return server
}, { legacy: "reject" })

const byNewSdk = async (req: IncomingMessage, res: ServerResponse, body: unknown) => {
  const headers = new Headers(Object.entries(req.headers).map(([name, value]) => [name, String(value)]))
  const request = new Request(`http://localhost${req.url}`, { method: "POST", headers })
  const answer = await handler.fetch(request, { parsedBody: body })
  res.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
}

const answer = process.argv[2] === "1" ? byOldSdk : byNewSdk
const http = createServer((req, res) => {
  void text(req).then((body) => answer(req, res, JSON.parse(body))).catch((error: unknown) => {
    res.writeHead(500).end(String(error))
  })
})
http.listen(0, "127.0.0.1", () => process.send?.((http.address() as AddressInfo).port))
process.on("disconnect", () => process.exit())
