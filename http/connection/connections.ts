import { addressBucket } from "#src/shared/client-address.ts"
import { type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { type Socket } from "node:net"

/** Responses of hosted servers that are event streams: others may be long downloads. */
const hostedStreams = new WeakSet<ServerResponse>()
export const markEventStream = (res: ServerResponse) => void hostedStreams.add(res)

/** A response to a GET that has begun and not ended: our own, except event streams, are written at once. */
const isEventStream = (req: IncomingMessage, res: ServerResponse, hosted: boolean) =>
  req.method === "GET" && res.headersSent && !res.writableEnded && (!hosted || hostedStreams.has(res))

export interface IdleLimit {
  /** The maximum of idle connections (without a request in flight) from one address. */
  readonly max: number
  /** Whether an address is limited: many clients share the address of a proxy. */
  readonly isLimited: (address: string) => boolean
  /** Minimum idle time in ms before closing, so that a busy client's connection stays open between requests. */
  readonly minIdleMillis: number
}

/** Idle connections by address, longest idle first. */
const idleConnections = ({ isLimited, max, minIdleMillis }: IdleLimit) => {
  const byAddress = new Map<string, Map<Socket, number>>()
  const keyOf = ({ remoteAddress = "" }: Socket) => addressBucket(remoteAddress)
  return {
    add: (socket: Socket) => {
      if (socket.destroyed || !isLimited(socket.remoteAddress ?? "")) return
      const key = keyOf(socket)
      byAddress.set(key, (byAddress.get(key) ?? new Map<Socket, number>()).set(socket, performance.now()))
    },
    remove: (socket: Socket, key = keyOf(socket)) => {
      const idle = byAddress.get(key)
      if (idle?.delete(socket) === true && idle.size === 0) byAddress.delete(key)
    },
    /** Closes connections above the limit, longest idle first. */
    trim: () => {
      const before = performance.now() - minIdleMillis
      for (const idle of byAddress.values()) {
        let excess = idle.size - max
        for (const [socket, since] of idle) {
          if (excess <= 0 || since > before) break
          socket.destroySoon()
          excess--
        }
      }
    }
  }
}

/** A server's connections and their requests: Node itself counts a connection without any request as busy. */
export const connectionsOf = (server: Server, idleLimit: IdleLimit) => {
  const sockets = new Set<Socket>()
  const inFlight = new Map<ServerResponse, { readonly req: IncomingMessage; readonly hosted: boolean }>()
  const requests = new WeakMap<Socket, number>()
  const idle = idleConnections(idleLimit)
  const trimming = setInterval(idle.trim, 1_000).unref()
  server.on("close", () => clearInterval(trimming))
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    idle.add(socket)
    // Read now: a closed socket has no address.
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
    /** Call this for each request, before it is answered. */
    begin: (req: IncomingMessage, res: ServerResponse, hosted: boolean) => {
      const { socket } = req
      inFlight.set(res, { req, hosted })
      change(socket, 1)
      res.once("close", () => {
        inFlight.delete(res)
        change(socket, -1)
      })
    },
    /** Ends event streams and closes idle connections; returns the number of requests still in flight. */
    endIdle: () => {
      for (const [res, { hosted, req }] of inFlight) {
        if (!isEventStream(req, res, hosted)) continue
        inFlight.delete(res)
        // Ended properly: an aborted stream looks like a failure to its reader.
        res.end()
      }
      const busy = new Set([...inFlight.values()].map(({ req }) => req.socket))
      for (const socket of sockets) if (!busy.has(socket)) socket.destroySoon()
      return inFlight.size
    }
  }
}
