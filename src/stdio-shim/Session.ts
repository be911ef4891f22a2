import { type ServerResponse } from "node:http"
import { Exchange } from "./Exchange.ts"
import {
  clientNameOf,
  type Id,
  idOf,
  isRequest,
  isResponse,
  type Message,
  progressTokenOf,
  rpcError
} from "./message.ts"

/** What carries a session's messages to its process. */
export interface Way {
  readonly send: (message: Message) => void
  readonly stop: () => void
}

/** Exchanges that a client may come back to. */
const keptMost = 20
/** Composites keep a session and its stream for their next call alone, and open another where it is gone. */
const yielding = "berth-composites"
/** These are about no request. */
const unrelated = /^notifications\/(resources\/updated|(tools|prompts|resources)\/list_changed)$/

/** A client's session: which of its exchanges each message of the server goes to. */
export class Session {
  readonly id: string | undefined
  readonly #posts = new Map<number, Exchange>()
  readonly #tokens = new Map<unknown, Exchange>()
  readonly #get: Exchange
  #last = 0
  #yields = false
  #way: Way | undefined
  #process: unknown
  lastUsed = Date.now()

  constructor(id: string | undefined) {
    this.id = id
    this.#get = this.#exchange(0, [], false, false)
  }

  /** `process` when several sessions have it. */
  attach(way: Way, process?: unknown) {
    this.#way = way
    this.#process = process
  }

  isOf(process: unknown) {
    return this.#process === process
  }

  get inUse() {
    return !this.#yields && this.#get.attached || [...this.#posts.values()].some(({ attached }) => attached)
  }

  get hasStream() {
    return this.#get.attached
  }

  #used = () => {
    this.lastUsed = Date.now()
  }

  #exchange(number: number, ids: ReadonlyArray<Id>, isHandshake: boolean, primes: boolean) {
    const headers: Record<string, string> = this.id === undefined ? {} : { "mcp-session-id": this.id }
    return new Exchange({ number, ids, headers, isHandshake, primes, onClose: () => this.#used() })
  }

  hasOpen(id: Id) {
    return [...this.#posts.values()].some(({ open }) => open.has(id))
  }

  /** Forgets the oldest exchanges that were answered: their clients have had the time to come back. */
  #forget() {
    const done = [...this.#posts.values()].filter(({ attached, done }) => done && !attached)
    for (const exchange of done.slice(0, Math.max(0, done.length - keptMost))) this.#posts.delete(exchange.number)
    for (const [token, { done }] of this.#tokens) if (done) this.#tokens.delete(token)
  }

  /** The messages of one POST. */
  post(messages: ReadonlyArray<Message>, response: ServerResponse, primes: boolean) {
    this.#used()
    const requests = messages.filter(isRequest)
    if (requests.length > 0) {
      this.#forget()
      const isHandshake = requests.length === 1 && requests[0]?.method === "initialize"
      if (isHandshake) this.#yields = clientNameOf(requests[0]) === yielding
      const exchange = this.#exchange(++this.#last, requests.map(({ id }) => id), isHandshake, primes)
      this.#posts.set(exchange.number, exchange)
      for (const request of requests) {
        const token = progressTokenOf(request)
        if (token !== undefined) this.#tokens.set(token, exchange)
      }
      exchange.attach(response)
    }
    for (const message of messages) this.#way?.send(message)
    if (requests.length === 0) response.writeHead(202).end()
  }

  /**
   * The stream of a GET: for what belongs to no request, or for the rest of the stream that had this event. False when
   * there is not (or no longer) such a stream.
   */
  listen(response: ServerResponse, lastEvent?: string): boolean {
    this.#used()
    const [, number, event] = /^(\d{1,9})-(\d{1,9})$/.exec(lastEvent ?? "") ?? []
    const exchange = number === undefined || number === "0" ? this.#get : this.#posts.get(Number(number))
    exchange?.attach(response, event === undefined ? undefined : Number(event))
    return exchange !== undefined
  }

  /** Over stdio nothing says which request a message belongs to, except for progress; with one open it is that one. */
  #exchangeFor(message: Message): Exchange {
    const told = this.#tokens.get(message.params?.["progressToken"])
    if (message.method === "notifications/progress" && told !== undefined) return told
    const open = [...this.#posts.values()].filter(({ done }) => !done)
    const attached = open.filter((exchange) => exchange.attached)
    const latest = attached.at(-1)
    if (message.method !== undefined && unrelated.test(message.method)) {
      return this.#get.attached ? this.#get : latest ?? this.#get
    }
    if (attached.length === 1 && latest !== undefined) return latest
    // A client whose connection broke comes back for its request.
    return this.#get.attached ? this.#get : latest ?? open.at(-1) ?? this.#get
  }

  /** A message of the server. */
  receive(message: Message) {
    const id = idOf(message)
    if (!isResponse(message)) return this.#exchangeFor(message).send(message)
    if (id === undefined) return
    for (const exchange of this.#posts.values()) if (exchange.open.has(id)) return exchange.answer(id, message)
  }

  /** The process has ended: nothing that is open will be answered by it. */
  fail(reason: string) {
    for (const exchange of this.#posts.values()) {
      for (const id of [...exchange.open]) exchange.answer(id, rpcError(id, -32603, `The server ${reason}`), 502)
    }
    this.#get.end()
  }

  end() {
    this.fail("ended the session")
    this.#way?.stop()
  }
}
