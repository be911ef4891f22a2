import { EventEmitter } from "node:events"
import { type OutgoingHttpHeaders, validateHeaderName, validateHeaderValue } from "node:http"
import { type ClientResponse } from "./client-response.ts"

type Headers = Array<string> | OutgoingHttpHeaders

/** What answers go through: a connection between two requests. */
export interface Line {
  /** Writes a whole answer, a character for each byte; the line is free for the next request. */
  readonly writeAnswer: (text: string) => void
  /** Has Node read the request and answer it: its response, or undefined when the connection is gone. */
  readonly handOver: () => ClientResponse | undefined
  readonly cut: () => void
}

/** As Node writes it after the headers that it was given. */
const kept = (seconds: number) => `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n\r\n`

interface Written {
  readonly status: number
  readonly reason: string
  readonly keptSeconds: number
  /** Undefined: Node has to write it. */
  readonly text: string | undefined
}

/** Heads of machines that come again are the same list. */
const known = new WeakMap<ReadonlyArray<string>, Written>()

/** Headers that say how the message or the connection goes on, and one whose bytes Node changes. */
const notPlain = new Set(["connection", "content-disposition", "keep-alive", "trailer", "transfer-encoding"])

const headText = (status: number, reason: string, headers: ReadonlyArray<string>, keptSeconds: number) => {
  validateHeaderValue("reason", reason)
  let text = `HTTP/1.1 ${status} ${reason}\r\n`
  let lengths = 0
  let isPlain = status >= 200 && status !== 204 && status !== 304
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i]!, headers[i + 1]!]
    validateHeaderName(name)
    validateHeaderValue(name, value)
    const lower = name.toLowerCase()
    if (lower === "content-length") lengths++
    if (notPlain.has(lower)) isPlain = false
    text += `${name}: ${value}\r\n`
  }
  return isPlain && lengths === 1 ? text + kept(keptSeconds) : undefined
}

const writtenOf = (status: number, reason: string, headers: ReadonlyArray<string>, keptSeconds: number) => {
  const before = known.get(headers)
  if (before?.status === status && before.reason === reason && before.keptSeconds === keptSeconds) return before
  const now: Written = { status, reason, keptSeconds, text: headText(status, reason, headers, keptSeconds) }
  known.set(headers, now)
  return now
}

/**
 * The response to a request that Node has not read. An answer that is complete, with its length, is written as it is; for
 * any other, Node reads the request after all, and its response does the rest.
 */
export class RepeatedResponse extends EventEmitter implements ClientResponse {
  statusCode = 200
  sendDate = true
  headersSent = false
  writableEnded = false
  destroyed = false
  readonly #line: Line
  readonly #keptSeconds: number
  /** Undefined: Node writes it. */
  #head: string | undefined
  #nodes: ClientResponse | undefined
  #sent: { readonly reason: string | undefined; readonly headers: Headers } | undefined

  constructor(line: Line, keptSeconds: number) {
    super()
    this.#line = line
    this.#keptSeconds = keptSeconds
  }

  get writableNeedDrain() {
    return this.#nodes?.writableNeedDrain === true
  }

  writeHead(status: number, reason: string | undefined, headers: Headers) {
    const isOurs = this.#nodes === undefined && reason !== undefined && Array.isArray(headers) && !this.sendDate
    const head = isOurs ? writtenOf(status, reason, headers, this.#keptSeconds) : undefined
    if (head?.text === undefined) {
      // At once: what Node refuses of it is thrown to who wrote it, who answers something else.
      const nodes = this.#node()
      if (nodes === undefined) return
      nodes.sendDate = this.sendDate
      nodes.writeHead(status, reason, headers)
    } else {
      this.#head = head.text
      this.#sent = { reason, headers }
    }
    this.statusCode = status
    this.headersSent = true
  }

  endAtOnce(text: string) {
    if (this.#nodes !== undefined || this.#head === undefined) return this.end(Buffer.from(text, "latin1"))
    if (this.destroyed || this.writableEnded) return
    this.writableEnded = true
    this.#line.writeAnswer(this.#head + text)
    this.destroyed = true
    this.emit("close")
  }

  flushHeaders() {
    this.#node()?.flushHeaders()
  }

  /** No such request is known of a client that waits. */
  writeContinue() {}

  write(chunk: Uint8Array | string) {
    return this.#node()?.write(chunk) ?? true
  }

  end(chunk?: Uint8Array | string) {
    if (this.writableEnded) return
    this.writableEnded = true
    this.#node()?.end(chunk)
  }

  destroy() {
    if (this.#nodes !== undefined) return void this.#nodes.destroy()
    if (!this.destroyed && !this.writableEnded) this.#line.cut()
  }

  /** The client has closed the connection. */
  lose() {
    if (this.destroyed || this.writableEnded || this.#nodes !== undefined) return
    this.destroyed = true
    this.emit("close")
  }

  /** Has Node write it, so that it has all of the connection; false: there is nothing left to write. */
  yieldToNode() {
    return !this.writableEnded && this.#node() !== undefined
  }

  #node() {
    if (this.#nodes !== undefined || this.destroyed) return this.#nodes
    const nodes = this.#nodes = this.#line.handOver()
    if (nodes === undefined) {
      this.destroyed = true
      this.emit("close")
      return undefined
    }
    nodes.on("drain", () => this.emit("drain"))
    nodes.on("error", () => undefined)
    nodes.on("close", () => {
      this.destroyed = true
      this.emit("close")
    })
    if (this.#sent === undefined) return nodes
    nodes.sendDate = this.sendDate
    nodes.writeHead(this.statusCode, this.#sent.reason, this.#sent.headers)
    return nodes
  }
}
