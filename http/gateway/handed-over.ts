import { type Socket } from "node:net"
import { Duplex } from "node:stream"

/**
 * A machine's connection from the first byte of an answer on, for a client that has yet to write the request, which the
 * machine has. What the client writes goes nowhere; then it hears all that has come.
 */
export class HandedOver extends Duplex {
  readonly #socket: Socket
  readonly #read: Buffer
  #wasAsked = false

  constructor(socket: Socket, read: Buffer) {
    super({ allowHalfOpen: false })
    this.#socket = socket.pause()
    this.#read = read
  }

  override _write(_chunk: unknown, _encoding: unknown, done: () => void) {
    if (!this.#wasAsked) this.#begin()
    done()
  }

  override _read() {
    if (this.#wasAsked) this.#socket.resume()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void) {
    this.#socket.destroy()
    done(error)
  }

  #begin() {
    this.#wasAsked = true
    const socket = this.#socket
    this.push(this.#read)
    if (socket.readableEnded) return void this.push(null)
    if (socket.destroyed) return void this.destroy(socket.errored ?? undefined)
    socket.on("data", (chunk: Buffer) => this.push(chunk) || socket.pause())
    socket.on("end", () => this.push(null)).on("error", (error) => this.destroy(error)).on(
      "close",
      () => this.destroy()
    )
    socket.resume()
  }
}
