/**
 * A server of MCP over standard input and output as others write them, without a library: its tools make what a relay
 * must carry. One process counts its calls.
 */
export const stdioServer = (greeting = "\"on stdio\""): string =>
  `#!/usr/bin/env node
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n")
const text = (value) => ({ content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }] })
const tool = (name) => ({ name, description: name, inputSchema: { type: "object" } })
const names = ["who", "progress", "ask", "big", "die", "mumble", "never", "log"]
let calls = 0, asked = 0
const waiting = new Map(), cancelled = []
const tools = {
  who: (params, id) => ({ calls: ++calls, pid: process.pid, args: process.argv.slice(2), greeting: ${greeting}, cancelled, id,
    env: Object.keys(process.env).sort(), home: process.env.HOME }),
  progress: async ({ _meta }) => {
    for (let progress = 1; progress <= 3; progress++) {
      send({ method: "notifications/progress", params: { progressToken: _meta.progressToken, progress, total: 3 } })
    }
    return "done"
  },
  ask: () => new Promise((resolve) => {
    const id = "question-" + ++asked
    waiting.set(id, (answer) => resolve(answer))
    send({ id, method: "roots/list" })
  }),
  big: ({ arguments: { bytes } }) => "x".repeat(bytes),
  die: () => process.exit(7),
  mumble: () => { process.stdout.write("not a message\\n{\\"half\\": 1}\\n"); console.error("an error line"); return "mumbled" },
  never: () => new Promise(() => {}),
  log: () => { send({ method: "notifications/message", params: { level: "info", data: "logged" } }); return "logged" }
}
const handle = async ({ id, method, params, result }) => {
  if (method === undefined) { waiting.get(id)?.(result); return waiting.delete(id) }
  if (method === "notifications/cancelled") cancelled.push(params.requestId)
  if (id === undefined) return
  if (method === "initialize") return send({ id, result: { protocolVersion: params.protocolVersion, serverInfo: { name: "stdio", version: "1" },
    capabilities: { tools: {} }, sent: params.clientInfo.name } })
  if (method === "tools/list") return send({ id, result: { tools: names.map(tool) } })
  if (method === "ping") return send({ id, result: {} })
  const found = method === "tools/call" ? tools[params.name] : undefined
  if (found === undefined) return send({ id, error: { code: -32601, message: "Method not found" } })
  const value = await found(params, id)
  send({ id, result: text(value) })
}
if (process.argv.includes("--fail")) { console.error("Fatal error: the argument PLACE is missing"); process.exit(4) }
console.error("serving on stdio")
if (process.argv.includes("--prompt")) process.stdout.write("Loading { 3 of 3 } > ")
let rest = ""
process.stdin.setEncoding("utf8").on("data", (chunk) => {
  const lines = (rest + chunk).split("\\n"); rest = lines.pop()
  for (const line of lines) if (line.trim()) handle(JSON.parse(line))
}).on("end", () => process.exit(0))
`

/** One that listens on PORT by itself. */
export const httpServer = `#!/usr/bin/env node
import { createServer } from "node:http"
const results = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "http", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: process.argv.slice(2).join(" "), inputSchema: { type: "object" } }] })
}
createServer(async (request, response) => {
  let body = ""
  for await (const part of request) body += part
  const { id, method, params } = body === "" ? {} : JSON.parse(body)
  if (request.method === "POST" && id === undefined) return response.writeHead(202).end()
  if (request.url === "/mcp" && request.method !== "POST") return response.writeHead(405).end()
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify(method === undefined ? {} : { jsonrpc: "2.0", id, result: results[method]?.(params) ?? {} }))
}).listen(process.env.PORT)
`
