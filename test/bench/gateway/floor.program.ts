/**
 * What Node itself takes of a proxy's core, without a rule: "answers" is `node:http` that reads a request and answers it
 * itself; "undici" passes it to the machine by one of undici's clients, and the answer back whole.
 */
import { once } from "node:events"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import { type AddressInfo } from "node:net"
import { Client } from "undici"

const [socketPath = "", kind] = process.argv.slice(2)
const text = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: "x".repeat(200) }] } })

const whole = (req: IncomingMessage, then: (body: Buffer) => void) => {
  const parts: Array<Buffer> = []
  req.on("data", (part: Buffer) => parts.push(part)).on("end", () => then(Buffer.concat(parts)))
}

const answers: RequestListener = (req, res) =>
  whole(req, () => {
    res.writeHead(200, ["Content-Type", "application/json", "Content-Length", String(text.length)])
    res.end(text, "latin1")
  })

const framing = /^(content-length|connection|host)$/i
const idle: Array<Client> = []

const pass = (req: IncomingMessage, res: ServerResponse, body: Buffer) => {
  const client = idle.pop() ?? new Client("http://localhost", { socketPath, headersTimeout: 0, bodyTimeout: 0 })
  const headers = req.rawHeaders.filter((_, i) => !framing.test(req.rawHeaders[i & ~1]!))
  let head: [status: number, headers: Array<string>] = [502, []]
  const parts: Array<Buffer> = []
  client.dispatch({ path: "/mcp", method: "POST", headers, body }, {
    onConnect: () => undefined,
    onHeaders: (status, fields) => {
      head = [status, fields.map((part) => part.toString("latin1"))]
      return true
    },
    onData: (part) => parts.push(part) > 0,
    onComplete: () => {
      idle.push(client)
      res.writeHead(...head)
      res.end(Buffer.concat(parts).toString("latin1"), "latin1")
    },
    onError: () => res.destroy()
  })
}

const server = createServer(kind === "undici" ? (req, res) => whole(req, (body) => pass(req, res, body)) : answers)
await once(server.listen(0, "127.0.0.1"), "listening")
process.send?.((server.address() as AddressInfo).port)
process.on("disconnect", () => process.exit())
