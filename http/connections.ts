import { type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { type Socket } from "node:net"

/** What hosted servers answer with events; downloads pass there too. */
const hostedStreams = new WeakSet<ServerResponse>()
export const markEventStream = (res: ServerResponse) => void hostedStreams.add(res)

/** An answer to a GET that has begun and not ended: all of ours but event streams are written in one go. */
const isEventStream = (req: IncomingMessage, res: ServerResponse, hosted: boolean) =>
  req.method === "GET" && res.headersSent && !res.writableEnded && (!hosted || hostedStreams.has(res))

/** Connections of a server, and what is under way on them: Node takes one that never sent a request for a busy one. */
export const connectionsOf = (server: Server) => {
  const sockets = new Set<Socket>()
  const underWay = new Map<ServerResponse, { readonly req: IncomingMessage; readonly hosted: boolean }>()
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  return {
    /** To be told of each request before it is answered. */
    begin: (req: IncomingMessage, res: ServerResponse, hosted: boolean) => {
      underWay.set(res, { req, hosted })
      res.once("close", () => underWay.delete(res))
    },
    /** Ends event streams and the connections without a request; how many requests go on. */
    thin: () => {
      for (const [res, { hosted, req }] of underWay) if (isEventStream(req, res, hosted)) underWay.delete(res)
      const busy = new Set([...underWay.values()].map(({ req }) => req.socket))
      for (const socket of sockets) if (!busy.has(socket)) socket.destroySoon()
      return underWay.size
    }
  }
}
