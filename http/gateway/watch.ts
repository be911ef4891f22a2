import { type ClientResponse } from "#http/connection/client-response.ts"
import { type Route } from "#src/routing/Route.ts"
import { nameOf } from "#src/usage/tool-names.ts"
import { type ToolCalls } from "#src/usage/ToolCalls.ts"
import { LRUCache } from "lru-cache"
import { hash } from "node:crypto"
import { type IncomingMessage } from "node:http"
import { isEventStream, type ResponseHead } from "./headers.ts"
import { clientOfSessionId } from "./session-tag.ts"
import { type Asked, askedIn, failedIn, maxLooked } from "./tool-calls.ts"

/** Clients that got no session, of so many servers; a server has as many as the figures tell apart. */
const maxServers = 1_000
const maxClients = 200

/** Looks at one exchange, for its server's figures by tool (docs/decisions/tool-metrics.md). */
export interface Watch {
  /** The request's body, as far as it was kept, when the machine answers, or will not (no `head`). */
  readonly asked: (body: ReadonlyArray<Buffer>, head: ResponseHead | undefined) => void
  /** A part of the machine's answer. */
  readonly heard: (chunk: Buffer) => void
  /** The answer broke off. */
  readonly broke: () => void
  /** The client that introduces itself by this exchange, which opens a session. */
  readonly client: () => string | undefined
  readonly ended: (millis: number | undefined) => void
}

const unwatched: Watch = {
  asked: () => {},
  heard: () => {},
  broke: () => {},
  client: () => undefined,
  ended: () => {}
}

interface Watching {
  readonly tools: Pick<ToolCalls, "count">
  readonly remember: (serverId: string, req: IncomingMessage, name: string) => void
  readonly clientOf: (serverId: string, req: IncomingMessage) => string | undefined
}

class Watched implements Watch {
  readonly #watching: Watching
  readonly #serverId: string
  readonly #req: IncomingMessage
  readonly #res: ClientResponse
  #asked: Asked | undefined
  #isStream = false
  #isReadable = false
  #isBroken = false
  #hasSession = false
  #size = 0
  #chunks: Array<Buffer> = []

  constructor(watching: Watching, serverId: string, req: IncomingMessage, res: ClientResponse) {
    this.#watching = watching
    this.#serverId = serverId
    this.#req = req
    this.#res = res
  }

  asked(body: ReadonlyArray<Buffer>, head: ResponseHead | undefined) {
    this.#asked = askedIn(body)
    this.#isReadable = this.#asked.calls.length > 0 && head !== undefined && !head.isEncoded
    this.#isStream = this.#isReadable && head !== undefined && isEventStream(head)
  }

  heard(chunk: Buffer) {
    if (!this.#isReadable) return
    this.#size += chunk.length
    if (this.#size <= maxLooked) return void this.#chunks.push(chunk)
    this.#isReadable = false
    this.#chunks = []
  }

  broke() {
    this.#isBroken = true
  }

  client() {
    this.#hasSession = true
    return this.#asked?.client
  }

  ended(millis: number | undefined) {
    const asked = this.#asked
    const { clientOf, remember, tools } = this.#watching
    if (asked?.client !== undefined && !this.#hasSession) remember(this.#serverId, this.#req, asked.client)
    if (asked === undefined || asked.calls.length === 0) return
    const allFailed = this.#isBroken || this.#res.headersSent && this.#res.statusCode >= 400
    const failed = allFailed || !this.#isReadable ? undefined : failedIn(this.#chunks, this.#isStream)
    // Accepted, and answered elsewhere: how long it took is unknown.
    const took = this.#res.statusCode === 202 ? undefined : millis
    for (const { client = clientOf(this.#serverId, this.#req), id, tool } of asked.calls) {
      tools.count(this.#serverId, { tool, client, isError: allFailed || failed?.has(id) === true, millis: took })
    }
  }
}

export const watcher = (tools: Pick<ToolCalls, "count">) => {
  /** By server and token: how the client named itself that sends requests of no session, as far as this process saw it. */
  const clients = new LRUCache<string, LRUCache<string, string>>({ max: maxServers })
  const remember = (serverId: string, { headers: { authorization } }: IncomingMessage, name: string) => {
    if (authorization === undefined) return
    const known = clients.get(serverId) ?? new LRUCache<string, string>({ max: maxClients })
    known.set(hash("sha256", authorization, "base64"), nameOf(name))
    clients.set(serverId, known)
  }

  const clientOf = (serverId: string, req: IncomingMessage) => {
    const id = req.headers["mcp-session-id"]
    const named = typeof id === "string" ? clientOfSessionId(id) : undefined
    if (named !== undefined) return named
    const { authorization } = req.headers
    const known = authorization === undefined ? undefined : clients.get(serverId)
    return known?.get(hash("sha256", authorization ?? "", "base64"))
  }

  const watching: Watching = { tools, remember, clientOf }
  return ({ authMode, serverId }: Route, req: IncomingMessage, res: ClientResponse): Watch =>
    // A byoa server's traffic is its owner's: the gateway passes it unseen.
    req.method !== "POST" || authMode === "byoa" || req.headers["content-encoding"] !== undefined
      ? unwatched
      : new Watched(watching, serverId, req, res)
}
