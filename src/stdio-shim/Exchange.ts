import { type ServerResponse } from "node:http"
import { type Id, type Message } from "./message.ts"

/** How long the answer to a handshake is waited for: as JSON it can have a status that says what failed. */
const handshakePatience = 10_000
/** Between comments: proxies cut what is silent for a minute. */
const beat = 20_000
const comment = ": \n\n"
/** What a client whose connection broke can still get. */
const mostEvents = 500
const mostBytes = 4 * 1024 * 1024

interface Options {
  /** Counts up in the session; 0 is the stream of its GET, which has no requests and never ends by itself. */
  readonly number: number
  readonly ids: ReadonlyArray<Id>
  readonly headers: Readonly<Record<string, string>>
  readonly isHandshake: boolean
  /** Whether the client knows an event without data, which gives it an id to come back with (MCP 2025-11-25). */
  readonly primes: boolean
  readonly onClose: () => void
}

/**
 * What a client waits on. It is an event stream, except that a handshake is answered as JSON. A client whose connection
 * broke comes back with the last event's id and gets what came since (MCP, Streamable HTTP, "Resumability").
 */
export class Exchange {
  readonly number: number
  readonly open: Set<Id>
  readonly #options: Options
  #events: Array<string> = []
  #bytes = 0
  /** How many events there were before those that are kept, and how many were written. */
  #dropped = 0
  #written = 0
  #response: ServerResponse | undefined
  #streaming = false
  #timers: Array<NodeJS.Timeout> = []

  constructor(options: Options) {
    this.number = options.number
    this.#options = options
    this.open = new Set(options.ids)
  }

  get attached() {
    return this.#response !== undefined
  }

  get done() {
    return this.number > 0 && this.open.size === 0
  }

  /** Writes to this response from now on, at first what came after the event with that number. */
  attach(response: ServerResponse, after = this.#written) {
    this.#response?.end()
    this.#detach()
    this.#response = response
    this.#streaming = false
    this.#written = Math.max(Math.min(after, this.#dropped + this.#events.length), this.#dropped)
    response.on("close", () => {
      if (this.#response === response) this.#detach()
      this.#options.onClose()
    })
    if (this.#options.isHandshake) this.#timers.push(setTimeout(() => this.#stream(), handshakePatience))
    else this.#stream()
    this.#flush()
  }

  #detach() {
    this.#response = undefined
    for (const timer of this.#timers.splice(0)) clearTimeout(timer)
  }

  #stream() {
    const response = this.#response
    if (this.#streaming || response === undefined) return
    this.#streaming = true
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      ...this.#options.headers
    })
    // At once: some clients and proxies take a head for open only when a byte of the body is there.
    response.write(this.#options.primes ? `id: ${this.number}-${this.#written}\ndata: \n\n` : comment)
    this.#timers.push(setInterval(() => response.write(comment), beat))
  }

  #flush() {
    const response = this.#response
    if (response === undefined || !this.#streaming) return
    for (const event of this.#events.slice(this.#written - this.#dropped)) {
      response.write(`id: ${this.number}-${++this.#written}\n${event}`)
    }
    if (this.done) this.end()
  }

  /** A message of the server to its client. It waits when the client is not there. */
  send(message: Message) {
    const event = `event: message\ndata: ${JSON.stringify(message)}\n\n`
    this.#events.push(event)
    this.#bytes += event.length
    this.#stream()
    this.#flush()
    while (this.#events.length > mostEvents || this.#bytes > mostBytes && this.#events.length > 1) {
      this.#bytes -= this.#events.shift()!.length
      this.#written = Math.max(this.#written, ++this.#dropped)
    }
  }

  /** The response to one of its requests; the last one ends it. `status` is for an error that ends it alone. */
  answer(id: Id, message: Message, status = 200) {
    if (!this.open.delete(id)) return
    if (!this.done || this.#streaming || this.#response === undefined) return this.send(message)
    this.#response.writeHead(status, { "content-type": "application/json", ...this.#options.headers })
      .end(JSON.stringify(message))
    this.#detach()
  }

  end() {
    this.#response?.end()
    this.#detach()
  }
}
