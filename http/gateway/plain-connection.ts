import { type Socket } from "node:net"
import { Client, type Dispatcher } from "undici"
import { ChunkedBody } from "./chunked-body.ts"
import { type Connection, type Home } from "./connection.ts"
import { HandedOver } from "./handed-over.ts"
import { isDoubtful, longestPlain, type PlainHead } from "./plain-head.ts"
import { clientOptions, idleMs, thresholdMs } from "./undici-connection.ts"

export interface PlainRequest {
  /** Head and body, a character for each byte. */
  readonly text: string
  /** The same, for an answer that undici has to read. */
  readonly options: () => Dispatcher.DispatchOptions
}

/** What an answer consists of; if it is not plain, as undici gives it. */
export interface AnswerHandler extends Dispatcher.DispatchHandler {
  /** The request is being written. */
  readonly onConnect: () => void
  /** The machine closed the connection before the request was written. */
  readonly onUnsent: () => void
  readonly onPlainHead: (answer: PlainHead, resume: () => void) => void
  /** False: no more until `resume` is called; what has come already is passed on all the same. */
  readonly onData: (chunk: Buffer) => boolean
  /** All of what came at once was told, and more will come. */
  readonly onPiece: () => void
  readonly onComplete: () => void
  readonly onError: (error: Error) => void
}

const nothing: Buffer = Buffer.alloc(0)
const endOfHead = "\r\n\r\n"

/**
 * Requests that wait to be written. Connections that were used before wait until all that has arrived was read: bytes that
 * nobody asked for, or an end, must be seen before the next client's request is written.
 */
let due: Array<PlainConnection> = []
const writeDue = () => {
  const now = due
  due = []
  for (const connection of now) connection.write()
}

/**
 * A connection for requests that are written at once. It reads answers of the plain form, at a third of what undici's
 * whole parser costs; any other answer is undici's from its first byte on, and the connection is closed after it.
 */
export class PlainConnection implements Connection {
  wasUsed = false
  readonly #machine: Home
  #socket: Socket | undefined
  #request: PlainRequest | undefined
  #handler: AnswerHandler | undefined
  #isWritten = false
  #isDestroyed = false
  /** The beginning of a head. */
  #pending: Buffer = nothing
  #answer: PlainHead | undefined
  #left = 0
  #chunked: ChunkedBody | undefined
  #isPaused = false
  #keptMs = 0
  #timer: NodeJS.Timeout | undefined
  #timerMs = 0
  #client: Client | undefined

  constructor(machine: Home) {
    this.#machine = machine
    machine.connect((error, socket) => {
      if (error !== null) return this.#lose(error)
      if (this.#isDestroyed) return void socket.destroy()
      this.#socket = socket
      socket.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onEnd).on("error", this.#lose)
      this.write()
    })
  }

  send(request: PlainRequest, handler: AnswerHandler) {
    this.#request = request
    this.#handler = handler
    if (this.#socket !== undefined && due.push(this) === 1) setImmediate(writeDue)
  }

  /** Called when it is time to. */
  write() {
    if (this.#handler === undefined || this.#isWritten) return
    this.#isWritten = true
    this.#handler.onConnect()
    this.#socket?.write(this.#request!.text, "latin1")
  }

  release() {
    this.wasUsed = true
    if (this.#isDestroyed) return
    if (this.#keptMs <= 0 || !this.#machine.addIdle(this)) return this.destroy()
    if (this.#timer !== undefined && this.#timerMs === this.#keptMs) return void this.#timer.refresh()
    clearTimeout(this.#timer)
    this.#timerMs = this.#keptMs
    this.#timer = setTimeout(() => this.#machine.removeIdle(this) && this.destroy(), this.#keptMs)
  }

  destroy() {
    if (this.#isDestroyed) return
    this.#isDestroyed = true
    this.#handler = undefined
    clearTimeout(this.#timer)
    this.#machine.removeIdle(this)
    this.#machine.forget()
    this.#socket?.destroy()
    this.#client?.destroy().catch(() => undefined)
  }

  readonly #onEnd = () => this.#lose(new Error("other side closed"))

  readonly #lose = (error: Error) => {
    const [handler, isWritten] = [this.#handler, this.#isWritten]
    this.destroy()
    if (handler === undefined) return
    if (isWritten || this.#socket === undefined) handler.onError(error)
    else handler.onUnsent()
  }

  readonly #resume = () => {
    this.#isPaused = false
    this.#socket?.resume()
  }

  readonly #onData = (piece: Buffer) => {
    const handler = this.#handler
    if (handler === undefined || !this.#isWritten) return this.#lose(new Error("an answer that nobody asked for"))
    const body = this.#answer === undefined ? this.#readHead(piece, handler) : piece
    if (body === undefined || this.#handler !== handler) return
    this.#readBody(body, handler)
    if (this.#handler === handler) handler.onPiece()
  }

  /** What follows the head; undefined: it is not complete, or another's to read. */
  #readHead(piece: Buffer, handler: AnswerHandler): Buffer | undefined {
    const all = this.#pending.length === 0 ? piece : Buffer.concat([this.#pending, piece])
    this.#pending = nothing
    const text = all.toString("latin1", 0, longestPlain + endOfHead.length)
    const end = text.indexOf(endOfHead)
    if (end === -1 && !isDoubtful(text)) {
      this.#pending = all
      return undefined
    }
    const answer = end === -1 ? undefined : this.#machine.readHead(text.slice(0, end))
    if (answer === undefined) {
      this.#handOver(all)
      return undefined
    }
    this.#answer = answer
    this.#left = answer.length ?? 0
    this.#chunked = answer.length === undefined ? new ChunkedBody() : undefined
    handler.onPlainHead(answer, this.#resume)
    return all.subarray(end + endOfHead.length)
  }

  #readBody(piece: Buffer, handler: AnswerHandler) {
    if (this.#chunked !== undefined) return this.#readChunks(this.#chunked, piece, handler)
    const data = piece.length > this.#left ? piece.subarray(0, this.#left) : piece
    this.#left -= data.length
    if (data.length > 0) this.#tell(data, handler)
    if (this.#left === 0 && this.#handler === handler) this.#complete(handler, piece.length === data.length)
  }

  #readChunks(chunked: ChunkedBody, piece: Buffer, handler: AnswerHandler) {
    const end = chunked.push(piece, (data) => {
      if (this.#handler === handler) this.#tell(data, handler)
    })
    if (this.#handler !== handler || end === "more") return
    if (end === "broken") this.#lose(new Error("the chunks of the answer are not valid"))
    else this.#complete(handler, end === piece.length)
  }

  #tell(data: Buffer, handler: AnswerHandler) {
    if (handler.onData(data) || this.#isPaused) return
    this.#isPaused = true
    this.#socket?.pause()
  }

  /** `isClean`: nothing came after it. */
  #complete(handler: AnswerHandler, isClean: boolean) {
    const kept = this.#answer?.keptSeconds
    const isKept = isClean && this.#socket?.writableLength === 0
    this.#keptMs = !isKept ? 0 : kept === undefined ? idleMs : Math.min(idleMs, kept * 1_000 - thresholdMs)
    if (this.#isPaused) this.#resume()
    this.#handler =
      this.#request =
      this.#answer =
      this.#chunked =
        undefined
    this.#isWritten = false
    handler.onComplete()
  }

  /** To a client of undici's that finds the request written already. */
  #handOver(read: Buffer) {
    const [handler, request, socket] = [this.#handler!, this.#request!, this.#socket!]
    this.#keptMs = 0
    socket.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onEnd)
    socket.off("error", this.#lose).on("error", () => undefined)
    const rest = new HandedOver(socket, read)
    this.#client = new Client(this.#machine.origin, {
      ...clientOptions,
      // Undici's type is of sockets; it reads, writes and destroys it. It hears of none before it has asked.
      connect: (_, opened) => process.nextTick(opened, null, rest as unknown as Socket)
    })
    this.#client.dispatch(request.options(), handler)
  }
}
