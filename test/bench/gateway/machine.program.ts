/**
 * The machine behind every proxy, on a Unix socket and on a port: it reads no more of HTTP than it needs, so that it is
 * not what is measured. A GET is answered with an event stream that stays open.
 */
import { once } from "node:events"
import { type AddressInfo, createServer, type Socket } from "node:net"

const body = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  result: { content: [{ type: "text", text: "x".repeat(200) }] }
})
const answer = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
    `Date: ${new Date().toUTCString()}\r\n\r\n${body}`
)
const stream =
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n: hi\n\n\r\n"

/** Requests have a `Content-Length`, if any, and what comes may end anywhere. */
const serve = (socket: Socket) => {
  let text = ""
  socket.on("error", () => undefined)
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1")
    for (;;) {
      const end = text.indexOf("\r\n\r\n")
      if (end === -1) return
      if (text.startsWith("GET")) {
        text = text.slice(end + 4)
        socket.write(stream)
        continue
      }
      const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end))
      const next = end + 4 + Number(length?.[1] ?? 0)
      if (text.length < next) return
      text = text.slice(next)
      socket.write(answer)
    }
  })
}

const path = process.argv[2]!
const byPath = createServer({ noDelay: true }, serve).listen(path)
const byPort = createServer({ noDelay: true }, serve).listen(0, "127.0.0.1")
await Promise.all([once(byPath, "listening"), once(byPort, "listening")])
process.send?.((byPort.address() as AddressInfo).port)
process.on("disconnect", () => process.exit())
