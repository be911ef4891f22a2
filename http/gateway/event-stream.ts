import { Pulse } from "#http/connection/pulse.ts"
import { type Exchange } from "./exchange.ts"
import { isEventStream, type ResponseHead } from "./headers.ts"

/** On which its client listens, and that answers nothing: that of a GET, or of a subscription (MCP 2026-07-28). */
const isListening = ({ req }: Exchange, status: number) =>
  status === 200 && (req.method === "GET" || req.headers["mcp-method"] === "subscriptions/listen")

/** Whether an answer is one: neither HEAD nor these two statuses have a body (RFC 9110 §6.4.1). */
const isStream = ({ req }: Exchange, status: number, head: ResponseHead) =>
  isEventStream(head) && req.method !== "HEAD" && status !== 204 && status !== 304

/** An event stream of a machine on its way to the client: kept from silence, and heard for use of the server. */
export class EventStream {
  readonly #exchange: Exchange
  readonly #listens: boolean
  readonly #rewriter: ReturnType<NonNullable<Exchange["rewriter"]>> | undefined
  /** Undefined: it is compressed, and passes as it is. */
  readonly #pulse: Pulse | undefined

  /** It goes on, though the machine has ended it. */
  isKept = false
  #isOver = false
  #end: (() => void) | undefined

  constructor(exchange: Exchange, status: number, head: ResponseHead) {
    this.#exchange = exchange
    this.#rewriter = head.isEncoded ? undefined : exchange.rewriter?.()
    this.#pulse = head.isEncoded ? undefined : new Pulse(performance.now())
    this.#listens = isListening(exchange, status)
    if (this.#listens) exchange.listens()
  }

  get takesComments() {
    return this.#pulse !== undefined
  }

  /** A part of the machine's answer, as the client gets it. */
  push(chunk: Buffer): Buffer {
    const out = this.#rewriter === undefined ? chunk : this.#rewriter.push(chunk)
    const says = this.#pulse === undefined ? out.length > 0 : this.#pulse.push(out)
    if (says && this.#listens) this.#exchange.said()
    return out
  }

  /** What is left when the machine has ended it. */
  rest() {
    return this.#rewriter?.end()
  }

  /** The machine has ended it. Between two events, a stream on which the client listens may stay open without a machine. */
  over(end: () => void) {
    this.#end = end
    this.isKept = this.#listens && this.#pulse?.isBetweenEvents === true
    if (this.isKept) this.#exchange.keep(() => this.end())
    else this.end()
  }

  end() {
    const end = this.#end
    this.isKept = false
    this.#isOver = true
    this.#end = undefined
    end?.()
  }

  /** A comment that is due. */
  beat(now: number) {
    return this.#isOver ? undefined : this.#pulse?.beat(now)
  }
}

export const eventStreamOf = (exchange: Exchange, status: number, head: ResponseHead) =>
  isStream(exchange, status, head) ? new EventStream(exchange, status, head) : undefined
