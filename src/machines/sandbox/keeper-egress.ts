import type * as Dgram from "node:dgram"
import type * as Net from "node:net"
import type { KeeperPlan } from "./keeper-plan.ts"

/**
 * The way out of a machine, in the keeper (docs/decisions/egress.md). It answers DNS: a name that the platform allows
 * gets a loopback address of its own, on whose allowed ports it listens; and it listens as a proxy. Each connection is
 * relayed to the platform's socket behind one line that says what it is for. The platform decides; nothing here does.
 *
 * It is a part of the keeper's program: it may use nothing from outside its own body.
 */
export function keeperEgress(require: NodeJS.Require, plan: NonNullable<KeeperPlan["egress"]>): void {
  const dgram = require("node:dgram") as typeof Dgram
  const net = require("node:net") as typeof Net
  // A machine that floods these harms nobody but itself.
  const MOST_NAMES = 512
  const MOST_CONNECTIONS = 128
  const MOST_QUESTIONS = 64
  const QUESTIONS_PER_SECOND = 1_000
  // A change of what is allowed counts for the next question (docs/images.md, "Hosts outside").
  const TTL_SECONDS = 0

  let connections = 0
  /** Relays to the platform's socket, both half-closed states kept. */
  const relay = (client: Net.Socket, line: string) => {
    client.on("error", () => client.destroy())
    if (connections >= MOST_CONNECTIONS) return void client.resetAndDestroy()
    connections++
    const done = (socket: Net.Socket) => socket.readableEnded && socket.writableFinished
    const outward = net.connect({ path: plan.socket, allowHalfOpen: true })
    outward.on("error", () => client.resetAndDestroy())
    outward.on("connect", () => {
      outward.write(line)
      client.pipe(outward)
      outward.pipe(client)
    })
    // Closed without a byte is how the platform refuses: to the client it is a connection that failed.
    outward.on("close", () => done(outward) && outward.bytesRead > 0 || client.resetAndDestroy())
    client.on("close", () => {
      connections--
      if (!done(client)) outward.destroy()
    })
  }
  const listen = (address: string, port: number, line: string) =>
    new Promise<Net.Server | undefined>((resolve) => {
      const server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => relay(client, line))
      // A port on which the machine already listens stays the machine's.
      server.on("error", () => resolve(undefined))
      server.listen(port, address, () => resolve(server))
    })

  interface Name {
    readonly address: string
    readonly servers: Map<number, Net.Server | undefined>
  }
  /** The names in use, the longest unused first. */
  const names = new Map<string, Name>()
  let count = 0
  const addressOf = async (name: string, ports: ReadonlyArray<number>) => {
    let entry = names.get(name)
    if (entry === undefined) {
      // Not 0 or 255 in any place of its own; 127.80.0.1 is the proxy's.
      count = (count + 1) % (254 * 254)
      entry = { address: `127.81.${1 + Math.floor(count / 254)}.${1 + count % 254}`, servers: new Map() }
    }
    names.delete(name)
    names.set(name, entry)
    for (const [oldest, { servers }] of names) {
      if (names.size <= MOST_NAMES) break
      for (const server of servers.values()) server?.close()
      names.delete(oldest)
    }
    for (const port of ports) {
      if (port === plan.ownPort || entry.servers.has(port)) continue
      entry.servers.set(port, undefined)
      entry.servers.set(port, await listen(entry.address, port, `connect ${name} ${port}\n`))
    }
    return entry.address
  }

  // What the platform says of a name: "ports 443 80", "refused" or "failed".
  const ask = (name: string) =>
    new Promise<string>((resolve) => {
      let answer = ""
      const socket = net.connect({ path: plan.socket })
      socket.setTimeout(8_000, () => socket.destroy())
      socket.on("error", () => undefined)
      socket.on("data", (part: Buffer) => void (answer += part.toString("latin1")))
      socket.on("close", () => resolve(answer.trim() || "failed"))
      socket.write(`lookup ${name}\n`)
    })
  /** Those who ask at the same time share an answer, as for A and AAAA. It is not kept: the next one may be another. */
  const asking = new Map<string, Promise<string>>()
  const verdict = (name: string) => {
    const found = asking.get(name)
    if (found !== undefined) return found
    if (asking.size >= MOST_QUESTIONS) return Promise.resolve("failed")
    const answer = ask(name).finally(() => void asking.delete(name))
    asking.set(name, answer)
    return answer
  }

  // RFC 1035 § 4. One question a message, as all resolvers send it.
  const NO_ERROR = 0
  const FORMAT_ERROR = 1
  const SERVER_FAILURE = 2
  const NO_SUCH_NAME = 3
  const question = (message: Buffer) => {
    const labels: Array<string> = []
    let at = 12
    for (;;) {
      const length = message[at]
      if (length === undefined || length > 63) return undefined
      if (length === 0) break
      labels.push(message.toString("latin1", at + 1, at + 1 + length))
      at += 1 + length
    }
    if (at > 12 + 255 || at + 5 > message.length) return undefined
    return { name: labels.join(".").toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 }
  }
  const reply = (message: Buffer, end: number, code: number, address?: string) => {
    const head = Buffer.from(message.subarray(0, end))
    // A response with the question's opcode and RD, recursion available, no more than the question and our answer.
    head[2] = 0x80 | (head[2] ?? 0) & 0x79
    head[3] = 0x80 | code
    head.writeUInt16BE(end > 12 ? 1 : 0, 4)
    head.writeUInt16BE(address === undefined ? 0 : 1, 6)
    head.writeUInt32BE(0, 8)
    if (address === undefined) return head
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, TTL_SECONDS, 0, 4, ...address.split(".").map(Number)])
    return Buffer.concat([head, answer])
  }
  const A = 1
  const AAAA = 28
  const resolve = async (message: Buffer): Promise<Buffer | undefined> => {
    // Too short to have an id, or itself a response.
    if (message.length < 12 || ((message[2] ?? 0) & 0x80) !== 0) return undefined
    const asked = message.readUInt16BE(4) === 1 ? question(message) : undefined
    if (asked === undefined) return reply(message, 12, FORMAT_ERROR)
    const { end, name, type } = asked
    const own = name === plan.authName || name === "localhost" || name.endsWith(".localhost")
    if (own) return reply(message, end, NO_ERROR, type === A ? "127.0.0.1" : undefined)
    // Only addresses are given out: no other records lead anywhere from here.
    if (type !== A && type !== AAAA) return reply(message, end, NO_ERROR)
    if (!/^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/.test(name)) return reply(message, end, NO_SUCH_NAME)
    const answer = await verdict(name)
    if (answer === "failed") return reply(message, end, SERVER_FAILURE)
    if (!answer.startsWith("ports ")) return reply(message, end, NO_SUCH_NAME)
    if (type === AAAA) return reply(message, end, NO_ERROR)
    return reply(message, end, NO_ERROR, await addressOf(name, answer.split(" ").slice(1).map(Number)))
  }

  let left = QUESTIONS_PER_SECOND
  setInterval(() => void (left = QUESTIONS_PER_SECOND), 1_000).unref()
  const limited = async (message: Buffer) => --left < 0 ? undefined : resolve(message)

  for (const [type, address] of [["udp4", "127.0.0.1"], ["udp6", "::1"]] as const) {
    const socket = dgram.createSocket(type)
    socket.on("error", () => undefined)
    socket.on("message", (message, from) => {
      void limited(message).then((answer) => answer !== undefined && socket.send(answer, from.port, from.address))
    })
    socket.bind(53, address)

    const stream = net.createServer((client) => {
      let waiting = Buffer.alloc(0)
      let busy = false
      client.setTimeout(10_000, () => client.destroy())
      client.on("error", () => client.destroy())
      const next = async () => {
        while (!busy && waiting.length >= 2 && waiting.length >= 2 + waiting.readUInt16BE(0)) {
          const end = 2 + waiting.readUInt16BE(0)
          const message = Buffer.from(waiting.subarray(2, end))
          waiting = Buffer.from(waiting.subarray(end))
          busy = true
          const answer = await limited(message)
          busy = false
          if (answer === undefined) return void client.destroy()
          client.write(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 255]), answer]))
        }
      }
      client.on("data", (part: Buffer) => {
        waiting = Buffer.concat([waiting, part])
        // One question is 300 bytes; whoever sends this much reads no answers.
        if (waiting.length > 65_537) return void client.destroy()
        void next()
      })
    })
    stream.maxConnections = 32
    stream.on("error", () => undefined)
    stream.listen(53, address)
  }
  void listen(plan.proxyAddress, plan.proxyPort, "proxy\n")
}
