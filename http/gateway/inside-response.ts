import { type ClientResponse } from "#http/connection/client-response.ts"
import { type Incoming } from "#src/machines/machine-fetch.ts"
import { EventEmitter } from "node:events"
import { type OutgoingHttpHeaders, validateHeaderName, validateHeaderValue } from "node:http"
import { Readable } from "node:stream"

type Chunk = Uint8Array | string

/** Bytes are not copied. */
const bytesOf = (chunk: Chunk) =>
  typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)

const listOf = (headers: Array<string> | OutgoingHttpHeaders): ReadonlyArray<string> =>
  Array.isArray(headers)
    ? headers
    : Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().flatMap((one) => [name, String(one)]))

/** The gateway's response to a request of this process: told as soon as it begins, with its body whole or as a stream. */
export class InsideResponse extends EventEmitter implements ClientResponse {
  statusCode = 200
  sendDate = false
  headersSent = false
  writableEnded = false
  destroyed = false
  readonly #told: (incoming: Incoming) => void
  readonly #lost: (error: Error) => void
  #rawHeaders: ReadonlyArray<string> = []
  #stream: Readable | undefined
  #isFull = false

  /** `lost`: it ended before it began. */
  constructor(told: (incoming: Incoming) => void, lost: (error: Error) => void) {
    super()
    this.#told = told
    this.#lost = lost
  }

  get writableNeedDrain() {
    return this.#isFull
  }

  writeHead(status: number, _reason: string | undefined, headers: Array<string> | OutgoingHttpHeaders) {
    const list = listOf(headers)
    for (let i = 0; i < list.length; i += 2) {
      validateHeaderName(list[i]!)
      validateHeaderValue(list[i]!, list[i + 1]!)
    }
    this.statusCode = status
    this.#rawHeaders = list
    this.headersSent = true
  }

  flushHeaders() {
    this.#streaming()
  }

  /** Nobody waits for that. */
  writeContinue() {}

  write(chunk: Chunk) {
    if (this.destroyed || this.writableEnded) return false
    this.#isFull = !this.#streaming().push(bytesOf(chunk))
    return !this.#isFull
  }

  endAtOnce(text: string) {
    this.end(Buffer.from(text, "latin1"))
  }

  end(chunk?: Chunk) {
    if (this.destroyed || this.writableEnded) return
    this.writableEnded = true
    const last = chunk === undefined ? undefined : bytesOf(chunk)
    if (this.#stream === undefined) this.#tell(last ?? Buffer.alloc(0))
    else {
      if (last !== undefined && last.length > 0) this.#stream.push(last)
      this.#stream.push(null)
    }
    this.#close()
  }

  /** Breaks it off. */
  destroy(error = new Error("the answer broke off")) {
    if (this.destroyed) return
    if (this.#stream === undefined && !this.writableEnded) this.#lost(error)
    this.#stream?.destroy(error)
    if (!this.writableEnded) this.#close()
  }

  #close() {
    this.destroyed = true
    this.emit("close")
  }

  #tell(body: Buffer | Readable) {
    this.#told({ statusCode: this.statusCode, rawHeaders: this.#rawHeaders, body })
  }

  #streaming() {
    if (this.#stream !== undefined) return this.#stream
    const stream = this.#stream = new Readable({
      read: () => {
        if (!this.#isFull) return
        this.#isFull = false
        this.emit("drain")
      }
    })
    // A reader that stops ends it.
    stream.on("error", () => undefined).on("close", () => this.destroy())
    this.#tell(stream)
    return stream
  }
}
