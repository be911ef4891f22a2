import { webPorts } from "#src/servers/egress-entry.ts"
import { Effect } from "effect"
import { createServer, isIP, type Server, type Socket } from "node:net"
import { accessDenied, serverName } from "./client-hello.ts"
import { Destinations } from "./Destinations.ts"
import { firstBytes } from "./first-bytes.ts"
import { Policies } from "./Policies.ts"
import { allows, canonicalHost, type Policy } from "./policy.ts"
import { Refusals } from "./Refusals.ts"
import { authority, forOrigin, hostOf, requestHead } from "./request-head.ts"
import { Traffic } from "./Traffic.ts"

/** Of one machine, those that only ask for a name included. */
const mostConnections = 256
const lineMillis = 5_000
const firstMillis = 15_000
const longestLine = 300

interface Wish {
  readonly machine: string
  readonly policy: Policy
  readonly socket: Socket
  /** What came on the socket already and belongs to the destination. */
  readonly before: Buffer
}

const line = (bytes: Buffer) => {
  const end = bytes.indexOf(10)
  return end < 0 ? (bytes.length > longestLine ? { words: [], end } : undefined) : {
    words: bytes.toString("latin1", 0, end).split(" "),
    end
  }
}

const httpRefusal = (status: string, text: string) =>
  `HTTP/1.1 ${status}\r\ncontent-type: text/plain\r\ncontent-length: ${
    text.length + 1
  }\r\nconnection: close\r\n\r\n${text}\n`

const established = "HTTP/1.1 200 Connection Established\r\n\r\n"

/** The one `Host` of the first request. */
const hostHeader = (bytes: Buffer) => {
  const head = requestHead(bytes)
  if (head === undefined || "problem" in head) return head
  const name = hostOf(head)
  return name === undefined ? { problem: "its request has no Host, or more than one" } : { name }
}

/** A last answer. What else comes is read and dropped: unread, it would reset the connection before the answer. */
const finish = (socket: Socket, answer: string | Buffer) => {
  socket.resume().end(answer)
  setTimeout(() => socket.destroy(), 1_000).unref()
}

const notAllowed = "This server's egress does not allow that host: its log says how to change it"
const unreachable: Readonly<Record<string, string>> = {
  private: "its address is private, local or reserved",
  unknown: "its name has no address",
  failed: "its name could not be looked up"
}

/**
 * The way out of machines (docs/decisions/egress.md): one server a machine, whose connections its keeper relays. Who is
 * asked for is read from the connection itself (TLS SNI, Host) on the ports where it can be, and must be allowed.
 */
export class Egress extends Effect.Service<Egress>()("egress/Egress", {
  effect: Effect.gen(function*() {
    const policies = yield* Policies
    const destinations = yield* Destinations
    const traffic = yield* Traffic
    const refusals = yield* Refusals

    const refused = (policy: Policy, host: string, port: number | undefined, why: string) => {
      if (why === "not allowed") refusals.notAllowed(policy, host, port)
      else if (why === "private") refusals.private(policy, host)
      else if (why !== "unknown") refusals.failed(policy, host, port, unreachable[why] ?? why)
    }

    const lookup = async ({ policy, socket }: Wish, name: string) => {
      const host = canonicalHost(name)
      const ports = host === undefined || isIP(host) > 0 ? "unknown" : await destinations.ports(policy, host)
      // The web's ports listen too where they are not allowed: whoever connects there is refused here, and told of.
      if (typeof ports !== "string") return finish(socket, `ports ${[...new Set([...ports, ...webPorts])].join(" ")}\n`)
      refused(policy, host ?? name, undefined, ports)
      finish(socket, ports === "failed" ? "failed\n" : "refused\n")
    }

    const refuseIn = (socket: Socket, port: number) =>
      port === 443
        ? finish(socket, accessDenied)
        : port === 80
        ? finish(socket, httpRefusal("403 Forbidden", notAllowed))
        : void socket.destroy()

    /** Whether the connection's own words name a host that is allowed. Undefined, and the connection over, if not. */
    const checked = async ({ before, policy, socket }: Wish, host: string, port: number) => {
      const read = port === 443 ? serverName : hostHeader
      const what = await firstBytes(socket, read, { before, millis: firstMillis })
      if (what === undefined) return void socket.destroy()
      const { bytes, value } = what
      const name = "name" in value ? canonicalHost(value.name) : undefined
      if (name !== undefined && allows(policy, name, port)) return bytes
      // What is no name goes into no line that tells a command: the machine chose its characters.
      if (name !== undefined) refusals.notAllowed(policy, name, port)
      else {
        const problem = "problem" in value ? value.problem : "the name that it says is no full host name"
        refusals.failed(policy, host, port, `${problem}, and port ${port} needs one it may reach`)
      }
      refuseIn(socket, port)
    }

    /** Carries a connection to an allowed host; the result is why it can't, when the connection is still to be answered. */
    const carry = async (wish: Wish, host: string, port: number, answer = "") => {
      const { machine, policy, socket } = wish
      const found = await destinations.find(policy, host, port)
      if ("refusal" in found) {
        refused(policy, host, port, found.refusal)
        return found.refusal
      }
      const speaksFirst = webPorts.includes(port) && isIP(host) === 0
      // Only after a proxy's answer does a client send what it has to be checked by.
      if (speaksFirst && answer !== "") socket.write(answer)
      const first = speaksFirst ? await checked(wish, host, port) : wish.before
      if (first === undefined) return
      const sent = { first, answer: speaksFirst ? "" : answer }
      const failure = await traffic.carry(machine, policy, socket, { ...found, host, port }, sent)
      if (failure !== undefined) refusals.failed(policy, host, port, failure)
      if (speaksFirst && failure !== undefined) return void socket.destroy()
      return failure
    }

    const connect = async (wish: Wish, name: string, port: number) => {
      const host = canonicalHost(name)
      if (host === undefined || await carry(wish, host, port) !== undefined) refuseIn(wish.socket, port)
    }

    const proxied = async (wish: Wish, host: string | undefined, port: number, answer?: string) => {
      const known = host === undefined ? undefined : canonicalHost(host)
      if (known === undefined) return finish(wish.socket, httpRefusal("400 Bad Request", "That is no full host name"))
      const refusal = await carry(wish, known, port, answer)
      if (refusal === undefined) return
      const status = refusal === "not allowed" || refusal === "private" ? "403 Forbidden" : "502 Bad Gateway"
      const text = refusal === "not allowed"
        ? notAllowed
        : `${known} can't be reached: ${unreachable[refusal] ?? refusal}`
      finish(wish.socket, httpRefusal(status, text))
    }

    const proxy = async (wish: Wish) => {
      const { socket } = wish
      const start = await firstBytes(socket, requestHead, { before: wish.before, millis: firstMillis })
      if (start === undefined) return void socket.destroy()
      const { bytes, value: head } = start
      if ("problem" in head) return finish(socket, httpRefusal("400 Bad Request", `To this proxy, ${head.problem}`))
      const rest = bytes.subarray(head.length)
      if (head.method === "CONNECT") {
        const at = authority(head.target)
        return proxied({ ...wish, before: rest }, at?.host, at?.port ?? 443, established)
      }
      const request = forOrigin(head)
      return request === undefined
        ? finish(socket, httpRefusal("400 Bad Request", "This is a proxy: it takes http:// URLs and CONNECT"))
        : proxied({ ...wish, before: Buffer.concat([request.bytes, rest]) }, request.host, request.port)
    }

    const accept = async (machine: string, socket: Socket) => {
      const start = await firstBytes(socket, line, { millis: lineMillis })
      const policy = start === undefined ? undefined : await policies.of(machine)
      if (start === undefined || socket.destroyed) return void socket.destroy()
      const { bytes, value: { end, words: [verb, name = "", port = ""] } } = start
      if (policy === undefined) return verb === "lookup" ? finish(socket, "failed\n") : void socket.destroy()
      refusals.heed(policy)
      const wish: Wish = { machine, policy, socket, before: bytes.subarray(end + 1) }
      if (verb === "lookup") return lookup(wish, name)
      if (verb === "connect") return connect(wish, name, Number(port))
      if (verb === "proxy") return proxy(wish)
      socket.destroy()
    }

    return {
      /** Makes the server of one machine. */
      serverOf: (machine: string): Server => {
        const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
          socket.on("error", () => socket.destroy())
          accept(machine, socket).catch(() => socket.destroy())
        })
        server.maxConnections = mostConnections
        return server
      }
    } as const
  })
}) {}
