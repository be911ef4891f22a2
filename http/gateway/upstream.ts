import { Agent, type ClientRequest } from "node:http"

/** Connect timeout for machines, which are near. */
export const connectTimeoutMs = 5_000

/**
 * Connections to machines are kept alive and reused, the latest first. Idle ones are closed after 1.5 seconds, before
 * common servers close them (gunicorn 2, Node and uvicorn 5 seconds): a call fails when its connection is closed at
 * that moment. The timeout is for idle connections and ends no stream.
 */
export const agent = new Agent({ keepAlive: true, maxFreeSockets: 256, scheduling: "lifo", timeout: 1_500 })

export const connectTimedOut = () => Object.assign(new Error("the connection took too long"), { code: "ETIMEDOUT" })

/** RFC 9110 §9.2.2. */
const idempotent = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"])

/**
 * Whether a request that failed without a response may be retried (RFC 9110 §9.2.2): only on a reused connection, which
 * the machine may have closed meanwhile, and only if it is idempotent or was provably not received. EPIPE proves that:
 * the other side had closed before we wrote. A tool call that may have run is never sent twice.
 */
export const mayRetry = (request: ClientRequest, error: Error, method: string | undefined) =>
  request.reusedSocket && (idempotent.has(method ?? "") || "code" in error && error.code === "EPIPE")

/** The first bytes of a body, kept until the machine answers, for a retry. */
export class ReplayBuffer {
  static readonly limit = 128 * 1024
  #chunks: Array<Buffer> = []
  #size = 0
  #isComplete = true

  add(chunk: Buffer) {
    this.#size += chunk.length
    if (this.#size > ReplayBuffer.limit) this.clear()
    else if (this.#isComplete) this.#chunks.push(chunk)
  }

  clear() {
    this.#isComplete = false
    this.#chunks = []
  }

  /** Whether the buffer holds everything read so far. */
  get isComplete() {
    return this.#isComplete
  }

  get chunks(): ReadonlyArray<Buffer> {
    return this.#chunks
  }
}
