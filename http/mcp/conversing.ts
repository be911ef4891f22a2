import { takesForms } from "#src/format/served-mcp.ts"
import {
  WebStandardStreamableHTTPServerTransport,
  type WebStandardStreamableHTTPServerTransportOptions
} from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js"
import { type Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import {
  isInitializeRequest,
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId
} from "@modelcontextprotocol/sdk/types.js"
import { randomUUID } from "node:crypto"

/*
 * Up to revision 2025-11-25 a client speaks of a call that is under way in POSTs of their own: it answers a question that
 * came in the call's stream, or says that it has stopped waiting (transports, cancellation). The streams are in this process, as
 * all of an installation are (docs/decisions/host-lease.md), and what is asked is forgotten with them.
 */

type Response = Extract<JSONRPCMessage, { readonly result: unknown } | { readonly error: unknown }>

interface Call {
  readonly speaker: string
  readonly id: RequestId
  readonly left: AbortController
}

interface OpenQuestion {
  readonly speaker: string
  readonly answered: (response: Response) => void
}

const calls = new Set<Call>()
const questions = new Map<string, OpenQuestion>()

/**
 * A session id says one thing, that its client takes forms, which only `initialize` tells otherwise. Nothing is kept for
 * it, and none is needed.
 */
const prefix = "forms-"
export const newSessionId = () => `${prefix}${randomUUID()}`
export const takesFormsBy = (sessionId: string) => sessionId.startsWith(prefix)
export const startsForms = (body: unknown) =>
  isInitializeRequest(body) && takesForms(body.params.capabilities.elicitation)

const isResponse = (message: unknown): message is Response =>
  isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)

/** What a client says beside its calls. */
export const takeWord = (speaker: string, body: unknown) => {
  if (isResponse(body)) {
    const question = questions.get(String(body.id))
    if (question?.speaker === speaker) question.answered(body)
  } else if (isJSONRPCNotification(body) && body.method === "notifications/cancelled") {
    const meant = [...calls].filter((call) => call.speaker === speaker && call.id === body.params?.["requestId"])
    // Clients of one credential may count alike: where two calls have the number, neither is known to be meant.
    if (meant.length === 1) meant[0]?.left.abort()
  }
}

/** Ids of requests to a client are unique: their answers reach this process, and not this transport. */
export class ConversingTransport extends WebStandardStreamableHTTPServerTransport {
  readonly #speaker: string | undefined
  readonly #call: Call | undefined
  readonly #asked = new Map<RequestId, string>()

  constructor(
    options: WebStandardStreamableHTTPServerTransportOptions,
    speaker: string | undefined,
    body: unknown
  ) {
    super(options)
    this.#speaker = speaker
    if (speaker === undefined || !isJSONRPCRequest(body)) return
    this.#call = { speaker, id: body.id, left: new AbortController() }
    calls.add(this.#call)
  }

  get left() {
    return this.#call?.left.signal ?? new AbortController().signal
  }

  /** The connection of the call is closed: nobody can answer what it asked, nor reads its answer. */
  leave() {
    if (this.#call === undefined || !calls.has(this.#call)) return
    this.#call.left.abort()
    this.#end()
  }

  /** What is refused before a server has it gets no answer by `send`. */
  override async handleRequest(...request: Parameters<WebStandardStreamableHTTPServerTransport["handleRequest"]>) {
    let isTaken = false
    try {
      const answer = await super.handleRequest(...request)
      isTaken = answer.ok
      return answer
    } finally {
      if (!isTaken) this.#end()
    }
  }

  override async send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId }) {
    return super.send(this.#worded(message), options)
  }

  #worded(message: JSONRPCMessage): JSONRPCMessage {
    if (isResponse(message)) this.#end()
    if (isJSONRPCRequest(message)) {
      const [own, id] = [message.id, randomUUID()]
      const answered = (response: Response) => {
        this.#forget(own)
        ;(this as Transport).onmessage?.({ ...response, id: own })
      }
      if (this.#speaker !== undefined) questions.set(id, { speaker: this.#speaker, answered })
      this.#asked.set(own, id)
      return { ...message, id }
    }
    const own = isJSONRPCNotification(message) && message.method === "notifications/cancelled"
      ? message.params?.["requestId"] as RequestId | undefined
      : undefined
    const id = own === undefined ? undefined : this.#forget(own)
    return id === undefined
      ? message
      : { ...message, params: { ...(message as { params?: object }).params, requestId: id } } as JSONRPCMessage
  }

  #forget(own: RequestId) {
    const id = this.#asked.get(own)
    this.#asked.delete(own)
    if (id !== undefined) questions.delete(id)
    return id
  }

  #end() {
    if (this.#call !== undefined) calls.delete(this.#call)
    for (const own of this.#asked.keys()) this.#forget(own)
  }
}
