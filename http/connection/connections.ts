import { addressBucket } from "#src/shared/client-address.ts"
import { type IncomingMessage, type Server } from "node:http"
import { type Socket } from "node:net"
import { type ClientResponse } from "./client-response.ts"
import { InFlight } from "./in-flight.ts"

/** Responses of hosted servers that are event streams: others may be long downloads. */
const hostedStreams = new WeakSet<ClientResponse>()
export const markEventStream = (res: ClientResponse) => void hostedStreams.add(res)
export const isMarkedStream = (res: ClientResponse) => hostedStreams.has(res)

/** A response to a GET that has begun and not ended: our own, except event streams, are written at once. */
const isEventStream = (req: IncomingMessage, res: ClientResponse, hosted: boolean) =>
  req.method === "GET" && res.headersSent && !res.writableEnded && (!hosted || isMarkedStream(res))

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
  return {
    add: (socket: Socket, key: string) => {
      if (socket.destroyed || !isLimited(socket.remoteAddress ?? "")) return
      byAddress.set(key, (byAddress.get(key) ?? new Map<Socket, number>()).set(socket, performance.now()))
    },
    remove: (socket: Socket, key: string) => {
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
  const inFlight = new InFlight<
    { readonly req: IncomingMessage; readonly res: ClientResponse; readonly hosted: boolean }
  >()
  const states = new WeakMap<Socket, { readonly key: string; requests: number }>()
  const idle = idleConnections(idleLimit)
  const trimming = setInterval(idle.trim, 1_000).unref()
  server.on("close", () => clearInterval(trimming))
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    const { key } = stateOf(socket)
    idle.add(socket, key)
    socket.once("close", () => {
      sockets.delete(socket)
      idle.remove(socket, key)
    })
  })
  /** How many requests a connection has in flight, and its address, which a closed one no longer has. */
  const stateOf = (socket: Socket) => {
    let state = states.get(socket)
    if (state === undefined) {
      states.set(socket, state = { key: addressBucket(socket.remoteAddress ?? ""), requests: 0 })
    }
    return state
  }
  return {
    /** Call this for each request, before it is answered. */
    begin: (req: IncomingMessage, res: ClientResponse, hosted: boolean) => {
      const { socket } = req
      const entry = inFlight.add({ req, res, hosted })
      const state = stateOf(socket)
      if (state.requests++ === 0) idle.remove(socket, state.key)
      res.on("close", () => {
        inFlight.delete(entry)
        if (--state.requests === 0) idle.add(socket, state.key)
      })
    },
    /** Ends event streams and closes idle connections; returns the number of requests still in flight. */
    endIdle: () => {
      for (const entry of inFlight.entries()) {
        const { hosted, req, res } = entry.value
        if (!isEventStream(req, res, hosted)) continue
        inFlight.delete(entry)
        // Ended properly: an aborted stream looks like a failure to its reader.
        res.end()
      }
      const busy = new Set(inFlight.entries().map(({ value: { req } }) => req.socket))
      for (const socket of sockets) if (!busy.has(socket)) socket.destroySoon()
      return inFlight.size
    }
  }
}
