/**
 * A member of the bench: MCP over Streamable HTTP without a library, in a process of its own, so that what it does is
 * not counted as the platform's. Tells its port to whoever forked it. Answers calls after as many milliseconds as it was
 * told last, and tells in the answer how long it held them.
 */
import { createServer } from "node:http"
import { type AddressInfo } from "node:net"
import { text } from "node:stream/consumers"

let delay = 50
process.on("message", (told: { readonly delay: number }) => {
  delay = told.delay
})

const results: Readonly<Record<string, (params: { readonly protocolVersion?: string }) => unknown>> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "member", version: "1" }
  }),
  "tools/list": () => ({ tools: [{ name: "look", inputSchema: { type: "object", properties: {} } }] }),
  ping: () => ({})
}

const server = createServer((req, res) => {
  const began = performance.now()
  void text(req).then(async (body) => {
    // Probes make the health score, without which it is no member.
    if (req.url === "/health") return void res.writeHead(200).end("{\"status\":\"ok\"}")
    if (req.method !== "POST") return void res.writeHead(405).end()
    const { id, method, params } = JSON.parse(body) as { id?: unknown; method: string; params: object }
    if (id === undefined) return void res.writeHead(202).end()
    if (method === "tools/call") await new Promise((resolve) => setTimeout(resolve, delay))
    const result = method === "tools/call"
      ? { content: [{ type: "text", text: String(performance.now() - began) }] }
      : results[method]?.(params)
    const answer = result === undefined ? { error: { code: -32601, message: "no such method" } } : { result }
    res.writeHead(200, { "content-type": "application/json", "mcp-session-id": "one" })
    res.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }))
  })
})
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port))
process.on("disconnect", () => process.exit())
