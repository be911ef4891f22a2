import { Agent, type ClientRequest } from "node:http"

/** How long a connection to a machine may take to be made; machines are near. */
export const connectTimeoutMs = 5_000

/**
 * Connections to machines are kept and reused, the latest first. Idle ones go after 1.5 seconds, before any usual
 * server closes them (gunicorn 2, Node and uvicorn 5 seconds): one that is closed just as it is used costs a call.
 * The time-out is for idle connections, it ends no stream.
 */
export const agent = new Agent({ keepAlive: true, maxFreeSockets: 256, scheduling: "lifo", timeout: 1_500 })

export const neverArrived = () => Object.assign(new Error("the connection took too long"), { code: "ETIMEDOUT" })

/** RFC 9110 §9.2.2. */
const idempotent = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"])

/**
 * Whether a request that broke without an answer may be sent again (RFC 9110 §9.2.2): only on a reused connection,
 * which the machine may have closed meanwhile, and only when it is idempotent or provably went nowhere. EPIPE proves
 * that: the other side had closed before we wrote. A tool call that may have run is never run twice.
 */
export const mayRepeat = (request: ClientRequest, error: Error, method: string | undefined) =>
  request.reusedSocket && (idempotent.has(method ?? "") || "code" in error && error.code === "EPIPE")

/** The first bytes of a body, kept until the machine answers, so that they can be sent again. */
export class ReplayBuffer {
  static readonly limit = 128 * 1024
  #chunks: Array<Buffer> = []
  #size = 0
  #whole = true

  add(chunk: Buffer) {
    this.#size += chunk.length
    if (this.#size > ReplayBuffer.limit) this.forget()
    else if (this.#whole) this.#chunks.push(chunk)
  }

  forget() {
    this.#whole = false
    this.#chunks = []
  }

  /** Whether everything read so far is here. */
  get whole() {
    return this.#whole
  }

  get chunks(): ReadonlyArray<Buffer> {
    return this.#chunks
  }
}
