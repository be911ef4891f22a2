/** An MCP server on stdio, as small as the machine: it answers `initialize`, and every other request alike. */
import { createInterface } from "node:readline"

const result = { content: [{ type: "text", text: "x".repeat(200) }] }
const hello = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "bench", version: "1.0.0" }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line) as { id?: number | string; method?: string }
  if (id === undefined) continue
  const answer = { jsonrpc: "2.0", id, result: method === "initialize" ? hello : result }
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
