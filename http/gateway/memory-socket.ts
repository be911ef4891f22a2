import { Duplex } from "node:stream"

/** One end of a connection within this process. */
class End extends Duplex {
  /** As of a client on this host. */
  readonly remoteAddress = "127.0.0.1"
  #peer: End | undefined
  #taken: (() => void) | undefined

  constructor() {
    super()
    // Whose connection fails is told by its request. Node's agent stops listening when an answer is read to its end, where a
    // caller that gives up just then still makes an error, and one that nobody listens for ends the process.
    this.on("error", () => undefined)
  }

  join(peer: End) {
    this.#peer = peer
  }

  /** Of `net.Socket`, which HTTP agents call: nothing is dead here without being closed. */
  setKeepAlive() {
    return this
  }
  setTimeout() {
    return this
  }
  ref() {
    return this
  }
  unref() {
    return this
  }

  /** Of `net.Socket`, which HTTP servers call. */
  destroySoon() {
    if (this.writableFinished) this.destroy()
    else this.end(() => this.destroy())
  }

  #receive(chunk: Buffer | null, taken: () => void) {
    if (this.destroyed) return taken()
    if (chunk !== null) this.#taken = taken
    this.push(chunk)
    if (chunk === null) taken()
  }

  override _read() {
    const taken = this.#taken
    this.#taken = undefined
    taken?.()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void) {
    // An empty chunk is no data, and nobody would read it.
    if (chunk.length === 0 || this.#peer === undefined) return done()
    this.#peer.#receive(chunk, done)
  }

  override _final(done: () => void) {
    if (this.#peer === undefined) return done()
    this.#peer.#receive(null, done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void) {
    const peer = this.#peer
    const taken = this.#taken
    this.#peer = this.#taken = undefined
    taken?.()
    // What was sent before is read first.
    if (peer !== undefined && !peer.destroyed) {
      if (peer.readableEnded || this.writableFinished) peer.#receive(null, () => undefined)
      else setImmediate(() => peer.destroy(Object.assign(new Error("the other side hung up"), { code: "ECONNRESET" })))
    }
    done(error)
  }
}

/** Both ends of a new connection, with back-pressure. */
export const memorySockets = (): readonly [Duplex, Duplex] => {
  const [one, other] = [new End(), new End()]
  one.join(other)
  other.join(one)
  return [one, other]
}
