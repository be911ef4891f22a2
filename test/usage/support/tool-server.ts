import { type RequestListener } from "node:http"
import { text } from "node:stream/consumers"

export const json = { "content-type": "application/json" }

/** A tool's name says how it answers: `fails` and `streamed-fails` by isError, `unknown…` by an error of JSON-RPC, `http` by 500. */
const answerTo = ({ id, params: { name } }: { readonly id: unknown; readonly params: { readonly name: string } }) => ({
  jsonrpc: "2.0",
  id,
  ...(name.startsWith("unknown")
    ? { error: { code: -32602, message: "no such tool" } }
    : {
      result: {
        // What a tool says is not what the server says of it.
        content: [{ type: "text", text: `{"isError":true,"error":{}}` }],
        structuredContent: { isError: true },
        ...(name.endsWith("fails") ? { isError: true } : {})
      }
    })
})

export const mcp: RequestListener = (req, res) => {
  void text(req).then((body) => {
    // What the platform asks by itself.
    if (req.method !== "POST") return res.writeHead(405).end()
    const message: unknown = JSON.parse(body)
    const [first] = [message].flat() as [{ id: unknown; method: string; params: { name: string } }]
    if (first.method === "initialize") {
      return res.writeHead(200, { ...json, ...(req.url === "/stateless" ? {} : { "mcp-session-id": "s" }) }).end("{}")
    }
    const { name } = first.params
    const answers = Array.isArray(message) ? message.map(answerTo) : answerTo(first)
    if (name === "http") return res.writeHead(500, json).end("{}")
    if (name.startsWith("streamed")) {
      res.writeHead(200, { "content-type": "text/event-stream" }).write("event: message\ndata: {}\n\nevent: mess")
      return void setTimeout(() => res.end(`age\r\ndata: ${JSON.stringify(answers)}\r\n\r\n`), 20)
    }
    // As the SDK's servers do: each answer says the session again.
    const session = req.headers["mcp-session-id"]
    const headers = { ...json, ...(session === undefined ? {} : { "mcp-session-id": session }) }
    setTimeout(() => res.writeHead(200, headers).end(JSON.stringify(answers)), name === "slow" ? 300 : 0)
  })
}

export const call = (name: string, meta?: object, id: unknown = 1) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: {}, ...(meta === undefined ? {} : { _meta: meta }) }
})
export const initialize = (name: string) => ({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version: "1" } }
})
