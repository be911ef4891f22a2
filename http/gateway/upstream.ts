import { type MachineAddress } from "#src/machines/Machines.ts"
import { buildConnector, Client, type Dispatcher } from "undici"

/** Connect timeout for machines, which are near. */
const connectTimeoutMs = 5_000

/**
 * Idle connections are closed after 1.5 seconds, before common servers close them (gunicorn 2, Node and uvicorn 5
 * seconds): a call fails when its connection is closed at that moment. A machine may announce less in `Keep-Alive`.
 */
const idleMs = 1_500
const maxIdle = 256

const options = {
  pipelining: 1,
  // Calls may take long, and streams are open for hours.
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: idleMs,
  keepAliveMaxTimeout: idleMs,
  keepAliveTimeoutThreshold: 500
} as const satisfies Client.Options

/**
 * One connection, for one request at a time. When the machine closes it before a request is written, the request goes
 * through a new one in its place.
 */
export class Connection {
  readonly #machine: Machine
  readonly #client: Client
  #wasUsed = false
  #isDestroyed = false

  constructor(machine: Machine) {
    this.#machine = machine
    this.#client = new Client(machine.origin, { ...options, connect: machine.connect })
    this.#client.on("connect", () => this.#wasUsed = false)
    this.#client.on("disconnect", () => machine.removeIdle(this) && this.destroy())
  }

  /** Whether a request was answered on it before: the machine may be closing it just now. */
  get wasUsed() {
    return this.#wasUsed
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
    this.#client.dispatch(request, handler)
  }

  /** For the next request: the answer is complete. */
  release() {
    this.#wasUsed = true
    if (!this.#isDestroyed && !this.#machine.addIdle(this)) this.destroy()
  }

  /** Closes it, with the request that is under way. */
  destroy() {
    if (this.#isDestroyed) return
    this.#isDestroyed = true
    this.#machine.forget()
    this.#client.destroy().catch(() => undefined)
  }
}

/** The connections to one machine. Their number has no limit: each open stream has one. */
class Machine {
  readonly origin: string
  readonly connect: buildConnector.connector
  readonly #idle: Array<Connection> = []
  readonly #onEmpty: () => void
  #count = 0

  constructor(address: MachineAddress, onEmpty: () => void) {
    this.origin = address._tag === "Unix" ? "http://localhost" : `http://${hostOf(address.host)}:${address.port}`
    this.connect = buildConnector({
      timeout: connectTimeoutMs,
      ...(address._tag === "Unix" ? { socketPath: address.path } : {})
    })
    this.#onEmpty = onEmpty
  }

  open() {
    this.#count++
    return new Connection(this)
  }

  /** The idle connection that was used last, so that those that are not needed close; or a new one. */
  take() {
    return this.#idle.pop() ?? this.open()
  }

  addIdle(connection: Connection) {
    return this.#idle.length < maxIdle && this.#idle.push(connection) > 0
  }

  removeIdle(connection: Connection) {
    const at = this.#idle.lastIndexOf(connection)
    return at !== -1 && this.#idle.splice(at, 1).length > 0
  }

  forget() {
    this.#count--
    if (this.#count === 0) this.#onEmpty()
  }
}

const hostOf = (host: string) => host.includes(":") ? `[${host}]` : host

/** Machines to which there are connections, by address: one that stopped is forgotten with the last of them. */
const machines = new Map<string, Machine>()

const machineAt = (address: MachineAddress) => {
  const key = address._tag === "Unix" ? address.path : `${address.host}:${address.port}`
  let machine = machines.get(key)
  if (machine === undefined) machines.set(key, machine = new Machine(address, () => machines.delete(key)))
  return machine
}

/** A connection to the machine; `fresh`: a new one. */
export const connectionTo = (address: MachineAddress, fresh: boolean): Connection => {
  const machine = machineAt(address)
  return fresh ? machine.open() : machine.take()
}

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
