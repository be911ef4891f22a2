import { type IncomingMessage, type ServerResponse } from "node:http"
import { type Socket } from "node:net"

/**
 * Has responses that wait for others of their connection end with it: Node tells only the one that is being written.
 * Without, such a request would be under way for good.
 */
export const queuedResponses = () => {
  const queues = new WeakMap<Socket, Set<ServerResponse>>()
  const queueOf = (socket: Socket) => {
    const known = queues.get(socket)
    if (known !== undefined) return known
    const queue = new Set<ServerResponse>()
    socket.once("close", () => {
      for (const res of queue) {
        if (res.socket !== null) continue
        res.destroy()
        res.emit("close")
      }
    })
    queues.set(socket, queue)
    return queue
  }
  return ({ socket }: IncomingMessage, res: ServerResponse) => {
    if (res.socket !== null) return
    const queue = queueOf(socket)
    queue.add(res)
    res.once("close", () => queue.delete(res))
  }
}
