import { addressBucket } from "#src/shared/client-address.ts"
import { type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { type Socket } from "node:net"

/** What hosted servers answer with events; downloads pass there too. */
const hostedStreams = new WeakSet<ServerResponse>()
export const markEventStream = (res: ServerResponse) => void hostedStreams.add(res)

/** An answer to a GET that has begun and not ended: all of ours but event streams are written in one go. */
const isEventStream = (req: IncomingMessage, res: ServerResponse, hosted: boolean) =>
  req.method === "GET" && res.headersSent && !res.writableEnded && (!hosted || hostedStreams.has(res))

export interface IdleLimit {
  /** Connections without a request under way that an address may hold. */
  readonly most: number
  /** Whether the connections of an address are limited: many clients come from that of a proxy. */
  readonly counts: (address: string) => boolean
  /** How long a connection may be idle for certain, so that a busy client's is not closed between two requests. */
  readonly spared: number
}

/** Connections by address that have no request under way, those that have been idle longest first. */
const idleConnections = ({ counts, most, spared }: IdleLimit) => {
  const byAddress = new Map<string, Map<Socket, number>>()
  const keyOf = ({ remoteAddress = "" }: Socket) => addressBucket(remoteAddress)
  return {
    add: (socket: Socket) => {
      if (socket.destroyed || !counts(socket.remoteAddress ?? "")) return
      const key = keyOf(socket)
      byAddress.set(key, (byAddress.get(key) ?? new Map<Socket, number>()).set(socket, performance.now()))
    },
    remove: (socket: Socket, key = keyOf(socket)) => {
      const idle = byAddress.get(key)
      if (idle?.delete(socket) === true && idle.size === 0) byAddress.delete(key)
    },
    /** Closes those beyond the limit, the longest idle first. */
    trim: () => {
      const before = performance.now() - spared
      for (const idle of byAddress.values()) {
        let excess = idle.size - most
        for (const [socket, since] of idle) {
          if (excess <= 0 || since > before) break
          socket.destroySoon()
          excess--
        }
      }
    }
  }
}

/** Connections of a server, and what is under way on them: Node takes one that never sent a request for a busy one. */
export const connectionsOf = (server: Server, idleLimit: IdleLimit) => {
  const sockets = new Set<Socket>()
  const underWay = new Map<ServerResponse, { readonly req: IncomingMessage; readonly hosted: boolean }>()
  const requests = new WeakMap<Socket, number>()
  const idle = idleConnections(idleLimit)
  const trimming = setInterval(idle.trim, 1_000).unref()
  server.on("close", () => clearInterval(trimming))
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    idle.add(socket)
    // A closed socket has no address any more.
    const key = addressBucket(socket.remoteAddress ?? "")
    socket.once("close", () => {
      sockets.delete(socket)
      idle.remove(socket, key)
    })
  })
  const change = (socket: Socket, by: 1 | -1) => {
    const count = (requests.get(socket) ?? 0) + by
    requests.set(socket, count)
    if (count === 0) idle.add(socket)
    else idle.remove(socket)
  }
  return {
    /** To be told of each request before it is answered. */
    begin: (req: IncomingMessage, res: ServerResponse, hosted: boolean) => {
      const { socket } = req
      underWay.set(res, { req, hosted })
      change(socket, 1)
      res.once("close", () => {
        underWay.delete(res)
        change(socket, -1)
      })
    },
    /** Ends event streams and the connections without a request; how many requests go on. */
    thin: () => {
      for (const [res, { hosted, req }] of underWay) {
        if (!isEventStream(req, res, hosted)) continue
        underWay.delete(res)
        // With its last chunk: what is torn off looks like a failure to its reader.
        res.end()
      }
      const busy = new Set([...underWay.values()].map(({ req }) => req.socket))
      for (const socket of sockets) if (!busy.has(socket)) socket.destroySoon()
      return underWay.size
    }
  }
}
