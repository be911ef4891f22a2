/** The barest proxy that Node's own streams allow: no routing, no token, no metering. */
import { once } from "node:events"
import { Agent, createServer, request } from "node:http"
import { type AddressInfo } from "node:net"

const agent = new Agent({ keepAlive: true })
const socketPath = process.argv[2]!
const server = createServer((req, res) => {
  const { headers, method } = req
  const up = request({ socketPath, method, path: "/mcp", headers, agent }, (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(res)
  })
  up.on("error", () => res.destroy())
  req.pipe(up)
}).listen(0, "127.0.0.1")
await once(server, "listening")
process.send?.((server.address() as AddressInfo).port)
process.on("disconnect", () => process.exit())
