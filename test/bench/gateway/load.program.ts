/** A load like wrk's, where wrk is not installed: connections that send their next request when the last is answered. */
import { connect } from "node:net"

const [port, path, token, seconds, connections, session, before, after] = process.argv.slice(2)
const head = `POST ${path} HTTP/1.1\r\nHost: berth.test\r\nAuthorization: Bearer ${token}\r\n` +
  `Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2025-11-25\r\n` +
  `${session === "" ? "" : `Mcp-Session-Id: ${session}\r\n`}Content-Type: application/json\r\nContent-Length: `

let total = 0
const latencies: Array<number> = []

const lastChunk = Buffer.from("0\r\n\r\n")
let id = 0

const one = () => {
  /** Bytes of the body that are still to come; Infinity for a chunked one. */
  let due = 0
  let sentAt = 0
  const send = () => {
    const body = `${before}${++id}${after}`
    sentAt = performance.now()
    socket.write(`${head}${body.length}\r\n\r\n${body}`)
  }
  const socket = connect(Number(port), "127.0.0.1", send).setNoDelay()
  socket.on("data", (chunk) => {
    if (due === 0) {
      const text = chunk.toString("latin1")
      if (!text.startsWith("200", 9)) throw new Error(text)
      const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1]
      due = length === undefined ? Infinity : text.indexOf("\r\n\r\n") + 4 + Number(length)
    }
    due -= chunk.length
    if (due === Infinity ? !chunk.subarray(-5).equals(lastChunk) : due > 0) return
    total++
    latencies.push(performance.now() - sentAt)
    send()
  })
}

for (let i = 0; i < Number(connections); i++) one()
const start = performance.now()
await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1000))
const perSecond = total / (performance.now() - start) * 1000
const sorted = latencies.sort((a, b) => a - b)
const at = (share: number) => sorted[Math.floor(sorted.length * share)]
process.send?.({ total, perSecond, p50: at(0.5), p99: at(0.99) }, () => process.exit())
