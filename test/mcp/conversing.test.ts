import { ConversingTransport, takeWord } from "#http/mcp/conversing.ts"
import { expect, it } from "vitest"

const good = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
  "mcp-protocol-version": "2025-11-25"
}
const body = { jsonrpc: "2.0", id: 7, method: "tools/list" }

it.each([
  ["accepts no stream", { accept: "text/html" }],
  ["says that it is no JSON", { "content-type": "text/plain" }],
  ["is of an unknown revision", { "mcp-protocol-version": "1999-01-01" }]
])("a call that %s is refused, and forgotten with its answer", async (what, wrong) => {
  const transport = new ConversingTransport({}, what, body)
  await transport.start()
  const headers = { ...good, ...wrong }
  const request = new Request("http://localhost/mcp", { method: "POST", headers, body: JSON.stringify(body) })
  expect((await transport.handleRequest(request, { parsedBody: body })).ok).toBe(false)
  takeWord(what, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } })
  expect(transport.left.aborted).toBe(false)
})
