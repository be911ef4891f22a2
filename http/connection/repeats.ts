import { type IncomingMessage, type Server } from "node:http"
import { type Socket } from "node:net"
import { type LingeringResponse } from "./linger.ts"
import { RepeatedBytes, sizeOf } from "./repeated-bytes.ts"
import { type Line, RepeatedResponse } from "./repeated-response.ts"

/** Requests that need no parser: `Known` is what was learned of one before with the same head. */
export interface Repeats<Known> {
  /** What is known of a request that Node has read and that was answered. */
  readonly learn: (req: IncomingMessage) => Known | undefined
  /** Whether that still holds. */
  readonly holds: (known: Known) => boolean
  /** `req`: the one before. */
  readonly serve: (known: Known, req: IncomingMessage, res: RepeatedResponse, body: Buffer) => void
}

/**
 * A connection, whose requests go to Node's parser, but for those that begin as one before: as long as all bytes that came
 * before are known to be whole requests, a chunk that is that head and its body, to the byte, is the next one.
 */
class RepeatingConnection<Known> implements Line {
  readonly #socket: Socket
  readonly #repeats: Repeats<Known>
  readonly #toNode: (chunk: Buffer) => void
  readonly #keptSeconds: number
  /** All that has come was answered. */
  #isBetween = true
  /** Of what Node has got since then: how it began, until its head is read, its bytes, and those of its first request. */
  #first: Buffer | undefined
  #bytes = 0
  #requests = 0
  #size: number | undefined
  #last: { readonly bytes: RepeatedBytes; readonly known: Known; readonly req: IncomingMessage } | undefined
  /** Under way without Node. */
  #current: RepeatedResponse | undefined
  #chunk: Buffer | undefined
  #handedOver: LingeringResponse | undefined
  #isHandingOver = false
  /** What came before the client had read the answer waits in the socket. */
  #isPaused = false

  constructor(socket: Socket, repeats: Repeats<Known>, toNode: (chunk: Buffer) => void, keptSeconds: number) {
    this.#socket = socket
    this.#repeats = repeats
    this.#toNode = toNode
    this.#keptSeconds = keptSeconds
  }

  get isBusy() {
    return this.#current !== undefined
  }

  readonly onData = (chunk: Buffer) => {
    const socket = this.#socket
    if (this.#current?.yieldToNode() === true) {
      // What comes before the answer is Node's to order, and so is the client's leaving meanwhile.
      this.#bytes += chunk.length
      return this.#toNode(chunk)
    }
    if (this.#current !== undefined) {
      // Its reader is slow.
      this.#isPaused = true
      socket.pause()
      // Before all that the socket has of what follows: Node may resume it on its own.
      socket.unshift(chunk)
      return
    }
    if (this.#isBetween) {
      const [last, body] = [this.#last, this.#last?.bytes.bodyIn(chunk)]
      if (last !== undefined && body !== undefined && socket.writable && this.#repeats.holds(last.known)) {
        this.#chunk = chunk
        this.#current = new RepeatedResponse(this, this.#keptSeconds)
        return this.#repeats.serve(last.known, last.req, this.#current, body)
      }
      this.#isBetween = false
      this.#first = chunk
      this.#bytes = 0
    }
    this.#bytes += chunk.length
    this.#toNode(chunk)
  }

  readonly onClose = () => {
    const current = this.#current
    this.#current = undefined
    current?.lose()
  }

  /** Node no longer reads this connection, and its parser may be another's by now. */
  leave() {
    this.#socket.removeListener("data", this.onData)
  }

  /** Node has read a request; true: it is one that is answered already. */
  begin(req: IncomingMessage, res: LingeringResponse) {
    this.#requests++
    if (this.#first !== undefined) this.#size = sizeOf(req, this.#first)
    this.#first = undefined
    res.once("close", () => this.#end(req))
    if (!this.#isHandingOver) return false
    this.#handedOver = res
    req.resume()
    return true
  }

  #end(req: IncomingMessage) {
    // Of more than one at a time it is not known where the second one began.
    if (this.#requests > 1 || this.#size !== this.#bytes || !req.complete || this.#socket.destroyed) return
    this.#isBetween = true
    this.#requests = 0
    const known = this.#repeats.learn(req)
    if (known === undefined) this.#last = undefined
    else if (this.#last?.known !== known) {
      const bytes = RepeatedBytes.of(req)
      this.#last = bytes && { bytes, known, req }
    }
  }

  writeAnswer(text: string) {
    if (this.#socket.write(text, "latin1")) return this.#free()
    // Its reader is slow: nothing more is read of it until then.
    this.#socket.once("drain", () => this.#free())
  }

  #free() {
    this.#current = undefined
    this.#chunk = undefined
    this.#readOn()
  }

  /** In a later turn, when the caller is done with the answer before. */
  #readOn() {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume()
  }

  handOver() {
    const chunk = this.#chunk
    this.#current = undefined
    this.#chunk = undefined
    if (chunk === undefined || this.#socket.destroyed) return undefined
    this.#isBetween = false
    this.#first = chunk
    this.#bytes = chunk.length
    this.#isHandingOver = true
    // First, so that Node may pause it again.
    this.#readOn()
    this.#toNode(chunk)
    this.#isHandingOver = false
    const res = this.#handedOver
    this.#handedOver = undefined
    return res
  }

  cut() {
    this.#socket.destroy()
  }
}

/**
 * Answers requests of the server's connections that repeat the head of one before past Node's parser, which is a third of
 * what a small request costs. The listener calls `begin` for each request that Node has read; true: it is answered
 * already.
 */
export const repeatsOf = <Known>(server: Server, repeats: Repeats<Known>) => {
  const connections = new WeakMap<Socket, RepeatingConnection<Known>>()
  server.on("connection", (socket: Socket) => {
    // Node's own; with none or with several it reads in another way than is known here, and has all of it.
    const [toNode, ...more] = socket.listeners("data") as Array<(chunk: Buffer) => void>
    if (toNode === undefined || more.length > 0) return
    const connection = new RepeatingConnection(socket, repeats, toNode, Math.floor(server.keepAliveTimeout / 1000))
    connections.set(socket, connection)
    socket.removeListener("data", toNode)
    socket.on("data", connection.onData).once("close", connection.onClose)
  })
  server.on("connect", (_req, socket) => connections.get(socket as Socket)?.leave())
  // Node counts the time since it has written an answer, in which others may be under way.
  server.on("timeout", (socket: Socket) => {
    if (connections.get(socket)?.isBusy !== true) socket.destroy()
  })
  return {
    begin: (req: IncomingMessage, res: LingeringResponse): boolean =>
      connections.get(req.socket)?.begin(req, res) === true
  }
}
