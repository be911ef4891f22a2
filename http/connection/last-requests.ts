import { type IncomingMessage, type ServerResponse } from "node:http"
import { type Socket } from "node:net"

/** Requests whose connections are closed with their answers. */
export const lastRequests = () => {
  const ending = new WeakSet<Socket>()
  return {
    endWith: ({ socket }: IncomingMessage, res: ServerResponse) => {
      ending.add(socket)
      res.shouldKeepAlive = false
    },
    /** Whether it came after such a request: it is not answered (RFC 9112 §9.6). */
    isBehindLast: ({ socket }: IncomingMessage) => ending.has(socket)
  } as const
}
