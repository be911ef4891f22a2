/**
 * Processor time of a member's request within this process: the SDK's client, and HTTP to a server of this process that
 * answers by itself, without a network. Ten at once, as a composite sends them.
 *
 *   npx tsx test/bench/fan-out/session.program.ts
 */
import { memorySockets } from "#http/gateway/memory-socket.ts"
import { openSession } from "#src/composites/member-session.ts"
import { fetchThrough } from "#src/machines/machine-fetch.ts"
import { Agent, createServer } from "node:http"
import { text } from "node:stream/consumers"

const calls = 6_000
const atOnce = 10

interface Message {
  readonly id?: number
  readonly method: string
  readonly params: { readonly protocolVersion?: string }
}

const server = createServer((req, res) =>
  void text(req).then((body) => {
    if (req.method !== "POST") return void res.writeHead(405).end()
    const { id, method, params } = JSON.parse(body) as Message
    if (id === undefined) return void res.writeHead(202).end()
    const { protocolVersion } = params
    const result = method === "initialize"
      ? { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "member", version: "1" } }
      : { content: [{ type: "text", text: "12.5" }] }
    res.writeHead(200, { "content-type": "application/json", "mcp-session-id": "one" })
    res.end(JSON.stringify({ jsonrpc: "2.0", id, result }))
  })
)
const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 })
agent.createConnection = () => {
  const [ours, theirs] = memorySockets()
  server.emit("connection", theirs)
  return ours
}
const session = await openSession(
  { publicUrl: "http://member.local", transport: "streamable-http", revision: "2025-11-25" },
  fetchThrough(() => ({ agent }), { host: "member.local" }, 2 ** 21),
  () => undefined
)
const ask = () => session.request("tools/call", { name: "look", arguments: {} }, new AbortController().signal)

for (let round = 0; round < 4; round++) {
  const before = process.cpuUsage()
  for (let i = 0; i < calls; i += atOnce) await Promise.all(Array.from({ length: atOnce }, ask))
  const { system, user } = process.cpuUsage(before)
  console.log(`${((system + user) / calls).toFixed(0)} µs a request${round === 0 ? ", while it is compiled" : ""}`)
}
process.exit()
