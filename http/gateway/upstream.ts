import { type MachineAddress } from "#src/machines/Machines.ts"

export const toError = (error: unknown) => error instanceof Error ? error : new Error(String(error))

/** RFC 9110 §9.2.2. */
const idempotent = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"])

/**
 * Whether a request that failed without a response may be retried (RFC 9110 §9.2.2): only on a reused connection, which
 * the machine may have closed meanwhile, and only if it is idempotent or was provably not received. EPIPE proves that
 * of a request that was written at once: the other side had closed before. A tool call that may have run is never sent
 * twice.
 */
export const mayRetry = (
  { error, method, wasUsed, writtenAtOnce }: {
    readonly error: Error
    readonly method: string | undefined
    readonly wasUsed: boolean
    readonly writtenAtOnce: boolean
  }
) => wasUsed && (idempotent.has(method ?? "") || writtenAtOnce && "code" in error && error.code === "EPIPE")

/**
 * Whether a request that was written at once was provably not received as a whole, so that another machine may get it:
 * the other side had closed before (EPIPE), or closed without reading all of it. Linux tells the latter on Unix sockets
 * alone by ECONNRESET; it happens when a machine's relay is there, and nothing listens behind it any more.
 */
export const wasNotReceived = (
  { error, machine, writtenAtOnce }: {
    readonly error: Error
    readonly machine: MachineAddress
    readonly writtenAtOnce: boolean
  }
) =>
  writtenAtOnce && "code" in error &&
  (error.code === "EPIPE" || machine._tag === "Unix" && error.code === "ECONNRESET")

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
