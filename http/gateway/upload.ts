import { TakeableRequest } from "#http/connection/taken-body.ts"
import { type IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import { type Answer } from "./answer.ts"
import { hasBody } from "./framing.ts"
import { batchRefused, encodingRefused } from "./guest-body.ts"
import { ReplayBuffer } from "./upstream.ts"

/** Bodies up to this size are read whole, and sent with their headers in one write. */
const smallBytes = 64 * 1024
/** A small body that takes longer to arrive is sent as it arrives. */
const patienceMs = 200
/** Milliseconds without a byte after which a body has stopped to come. */
export const silentMillis = 60_000

interface Owner {
  readonly onUploaded: (count: number) => void
  /** Called once: `body` can be sent, or is refused. */
  readonly onReady: (refusal: Answer | undefined) => void
}

/** A request's body on its way to the machine, whole or as a stream. */
export class Upload {
  readonly #req: IncomingMessage
  /** The body, if it was already read. */
  readonly #read: Buffer | undefined
  readonly #owner: Owner
  readonly #replay = new ReplayBuffer()
  readonly #length: number | undefined
  readonly #isSmall: boolean
  /** Of a guest's POST nothing is sent before its first character has come. */
  #isUnknown: boolean
  #stream: Readable | undefined
  #received = 0
  #isReady = false
  #isEnded = false
  #timer: NodeJS.Timeout | undefined
  /** How much had come when it was last looked at, and since when no more has. */
  #seen = -1
  #silentSince = 0

  constructor(req: IncomingMessage, read: Buffer | undefined, isGuest: boolean, owner: Owner) {
    this.#req = req
    this.#read = read
    this.#owner = owner
    const length = req.headers["content-length"]
    this.#length = length === undefined ? undefined : Number(length)
    this.#isSmall = this.#length !== undefined && this.#length <= smallBytes
    this.#isUnknown = isGuest && req.method === "POST" && hasBody(req)
  }

  start() {
    const [read, req] = [this.#read, this.#req]
    if (read !== undefined) this.#owner.onUploaded(read.length)
    const refusal = this.#isUnknown ? encodingRefused(req) : undefined
    if (refusal !== undefined) return this.#ready(refusal)
    if (this.#isUnknown && read !== undefined) this.#look(read)
    if (read !== undefined || !hasBody(req)) return this.#ready()
    if (!this.#isSmall && !this.#isUnknown) this.#ready()
    if (this.#isSmall && req instanceof TakeableRequest && req.takeBody(this.#onPart)) return
    req.on("data", this.#onData).on("end", this.#onEnd)
  }

  /** The body for another attempt to send it. */
  body(): Buffer | Readable | null {
    const [read, req] = [this.#read, this.#req]
    if (read !== undefined) return read
    if (!hasBody(req)) return null
    if (this.#isEnded && this.isReplayable) return this.#whole()
    // Of objects, whose length nobody takes for the body's.
    const stream = this.#stream = new Readable({ read: () => void req.resume(), objectMode: true, highWaterMark: 2 })
    stream.on("error", () => undefined)
    for (const chunk of this.#replay.chunks) stream.push(chunk)
    if (this.#isEnded) stream.push(null)
    return stream
  }

  /** The length that the client announced for a stream. */
  get length() {
    return this.#length
  }

  /** Whether everything that was read so far can be sent again. */
  get isReplayable() {
    return this.#read !== undefined || !hasBody(this.#req) || this.#replay.isComplete
  }

  /** What was read so far, unless it is too much to be kept; nothing of what is refused. */
  get chunks(): ReadonlyArray<Buffer> {
    if (this.#isUnknown) return []
    return this.#read === undefined ? this.#replay.chunks : [this.#read]
  }

  /** Whether it has stopped to come. What is paused waits for the machine, and not for the client. */
  isSilent(now: number) {
    if (this.#read !== undefined || this.#isEnded || !hasBody(this.#req)) return false
    if (this.#received === this.#seen && !this.#req.isPaused()) return now - this.#silentSince >= silentMillis
    this.#seen = this.#received
    this.#silentSince = now
    return false
  }

  /** The machine has answered: nothing will be sent again. */
  answered() {
    this.#replay.clear()
  }

  /** Nobody wants the rest. */
  stop() {
    clearTimeout(this.#timer)
    if (this.#req instanceof TakeableRequest) this.#req.leaveBody()
    this.#req.off("data", this.#onData).off("end", this.#onEnd)
  }

  #whole() {
    const { chunks } = this.#replay
    return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  }

  #ready(refusal?: Answer) {
    if (this.#isReady) return
    this.#isReady = true
    clearTimeout(this.#timer)
    this.#owner.onReady(refusal)
  }

  #look(part: Buffer) {
    const refusal = batchRefused(part, this.#received)
    if (refusal === "unknown") return
    if (refusal !== undefined) return this.#ready(refusal)
    this.#isUnknown = false
    if (!this.#isSmall) this.#ready()
  }

  readonly #onPart = (part: Buffer | null) => part === null ? this.#onEnd() : this.#onData(part)

  readonly #onData = (chunk: Buffer) => {
    this.#owner.onUploaded(chunk.length)
    this.#received += chunk.length
    if (this.#isUnknown) this.#look(chunk)
    this.#replay.add(chunk)
    if (this.#isUnknown) return
    if (this.#stream !== undefined) {
      if (!this.#stream.push(chunk)) this.#req.pause()
    } else if (this.#received === this.#length) this.#onEnd()
    else this.#timer ??= setTimeout(() => this.#ready(), patienceMs)
  }

  readonly #onEnd = () => {
    if (this.#isEnded) return
    this.#isEnded = true
    if (this.#stream === undefined) this.#ready()
    else this.#stream.push(null)
  }
}
