/** Opens so many event streams, says when each has begun, and keeps them open. */
import { connect } from "node:net"

const [port, path, token, count] = process.argv.slice(2)
const request = `GET ${path} HTTP/1.1\r\nHost: berth.test\r\nAuthorization: Bearer ${token}\r\n` +
  `Accept: text/event-stream\r\nMcp-Protocol-Version: 2025-11-25\r\n\r\n`

const open = () =>
  new Promise<void>((resolve) => {
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(request))
    socket.on("data", (chunk) => {
      if (chunk.includes(": hi")) resolve()
    })
  })

for (let i = 0; i < Number(count); i++) await open()
process.send?.(Number(count))
