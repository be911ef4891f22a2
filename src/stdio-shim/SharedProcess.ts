import { type Child } from "./Child.ts"
import { type Id, idOf, isRequest, isResponse, type Message, progressTokenOf, withProgressToken } from "./message.ts"
import { type Session, type Way } from "./Session.ts"

interface Sent {
  readonly session: Session
  readonly id: Id
  readonly token: unknown
}

/**
 * One process for many sessions. Each request has an id of its own there, which is its progress token too, since
 * clients number alike. The handshake is made once; later sessions get its result.
 */
export class SharedProcess {
  readonly #child: Child
  readonly #sessions = new Set<Session>()
  readonly #sent = new Map<number, Sent>()
  /** Requests of the server to a client, by their id. */
  readonly #asked = new Map<Id, Session>()
  readonly #onEnd: (reason: string) => void
  #last = 0
  #handshake: Message | undefined
  #initializing: { readonly id: number; readonly waiting: Array<Sent> } | undefined
  #initialized = false
  lastUsed = Date.now()

  constructor(child: Child, onEnd: (reason: string) => void) {
    this.#child = child
    this.#onEnd = onEnd
    child.listen({ onMessage: (message) => this.#receive(message), onEnd: (reason) => this.#end(reason) })
  }

  get inUse() {
    return this.#sent.size > 0
  }

  connect(session: Session): Way {
    this.#sessions.add(session)
    return {
      send: (message) => this.#send(session, message),
      stop: () => {
        this.#sessions.delete(session)
        for (const [id, asked] of this.#asked) if (asked === session) this.#asked.delete(id)
      }
    }
  }

  stop() {
    return this.#child.stop()
  }

  #send(session: Session, message: Message) {
    this.lastUsed = Date.now()
    if (isRequest(message)) return this.#request(session, message)
    if (isResponse(message)) {
      const id = idOf(message)
      // Nobody answers for another client.
      if (id === undefined || this.#asked.get(id) !== session) return
      this.#asked.delete(id)
      return this.#child.send(message)
    }
    if (message.method === "notifications/initialized") {
      if (this.#initialized) return
      this.#initialized = true
    }
    if (message.method !== "notifications/cancelled") return this.#child.send(message)
    const cancelled = [...this.#sent].find(([, sent]) =>
      sent.session === session && sent.id === message.params?.["requestId"]
    )
    if (cancelled !== undefined) {
      this.#child.send({ ...message, params: { ...message.params, requestId: cancelled[0] } })
    }
  }

  #request(session: Session, message: Message & { readonly id: Id }) {
    const sent: Sent = { session, id: message.id, token: progressTokenOf(message) }
    if (message.method === "initialize") {
      if (this.#handshake !== undefined) return session.receive({ ...this.#handshake, id: message.id })
      if (this.#initializing !== undefined) return void this.#initializing.waiting.push(sent)
    }
    const id = ++this.#last
    if (message.method === "initialize") this.#initializing = { id, waiting: [] }
    this.#sent.set(id, sent)
    this.#child.send({ ...sent.token === undefined ? message : withProgressToken(message, id), id })
  }

  #receive(message: Message) {
    if (isResponse(message)) return this.#answer(message)
    if (message.method === "notifications/progress") {
      const sent = this.#sent.get(Number(message.params?.["progressToken"]))
      sent?.session.receive({ ...message, params: { ...message.params, progressToken: sent.token } })
      return
    }
    const id = idOf(message)
    if (id === undefined) {
      for (const session of this.#sessions) session.receive(message)
      return
    }
    const busy = [...this.#sent.values()].at(-1)?.session
    const session = busy ?? [...this.#sessions].find(({ hasStream }) => hasStream)
    if (session === undefined) {
      const error = { code: -32603, message: "No client is connected that could answer" }
      return this.#child.send({ jsonrpc: "2.0", id, error })
    }
    this.#asked.set(id, session)
    session.receive(message)
  }

  #answer(message: Message) {
    const id = Number(idOf(message))
    const sent = this.#sent.get(id)
    this.#sent.delete(id)
    if (this.#initializing?.id === id) {
      const { waiting } = this.#initializing
      this.#initializing = undefined
      if (message.error === undefined) this.#handshake = message
      for (const other of waiting) other.session.receive({ ...message, id: other.id })
    }
    sent?.session.receive({ ...message, id: sent.id })
  }

  #end(reason: string) {
    for (const session of [...this.#sessions]) session.fail(reason)
    this.#onEnd(reason)
  }
}
