import { type IncomingMessage } from "node:http"
import { type Readable } from "node:stream"
import { Client, type Dispatcher } from "undici"
import { type Connection, type Home } from "./connection.ts"
import { type Way } from "./way.ts"

/**
 * Idle connections are closed after 1.5 seconds, before common servers close them (gunicorn 2, Node and uvicorn 5
 * seconds): a call fails when its connection is closed at that moment. A machine may announce less in `Keep-Alive`.
 */
export const idleMs = 1_500
/** It is closed so much before the machine would close it. */
export const thresholdMs = 500

export const clientOptions = {
  pipelining: 1,
  // Calls may take long, and streams are open for hours.
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: idleMs,
  keepAliveMaxTimeout: idleMs,
  keepAliveTimeoutThreshold: thresholdMs
} as const satisfies Client.Options

/** A request as undici takes it; `length` is what the client announced of a stream. */
export const undiciRequest = (
  { method }: IncomingMessage,
  { addressing: { machineHost }, headers, path }: Way,
  body: Buffer | Readable | null,
  length: number | undefined
): Dispatcher.DispatchOptions & { readonly servername: string } => ({
  method: method as Dispatcher.HttpMethod,
  // undici has no asterisk-form; a server reads this one as the same (RFC 9112 §3.2.4).
  path: path === "*" ? `http://${machineHost}` : path,
  headers: body === null || Buffer.isBuffer(body) || length === undefined
    ? [...headers]
    : [...headers, "Content-Length", String(length)],
  body,
  // Without one, undici looks in the host for that of a certificate.
  servername: machineHost
})

/**
 * A connection of undici's. When the machine closes it before a request is written, the request goes through a new one in
 * its place.
 */
export class UndiciConnection implements Connection {
  readonly #machine: Home
  readonly #client: Client
  #wasUsed = false
  #isDestroyed = false

  constructor(machine: Home) {
    this.#machine = machine
    this.#client = new Client(machine.origin, { ...clientOptions, connect: machine.connector })
    this.#client.on("connect", () => this.#wasUsed = false)
    this.#client.on("disconnect", () => machine.removeIdle(this) && this.destroy())
  }

  get wasUsed() {
    return this.#wasUsed
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
    this.#client.dispatch(request, handler)
  }

  release() {
    this.#wasUsed = true
    if (!this.#isDestroyed && !this.#machine.addIdle(this)) this.destroy()
  }

  destroy() {
    if (this.#isDestroyed) return
    this.#isDestroyed = true
    this.#machine.forget()
    this.#client.destroy().catch(() => undefined)
  }
}
