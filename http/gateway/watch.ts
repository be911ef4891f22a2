import { type Route } from "#src/routing/Route.ts"
import { type ToolCalls } from "#src/usage/ToolCalls.ts"
import { LRUCache } from "lru-cache"
import { hash } from "node:crypto"
import { type IncomingMessage, type ServerResponse } from "node:http"
import { isEventStream, type ResponseHead } from "./headers.ts"
import { clientOfSessionId } from "./session-tag.ts"
import { type Asked, askedIn, failedIn, maxLooked } from "./tool-calls.ts"

/** Clients whose servers give no session. */
const capacity = 10_000

/** Looks at one exchange, for its server's figures by tool (docs/decisions/tool-metrics.md). */
export interface Watch {
  /** The request's body, as far as it was kept, when the machine answers, or will not (no `head`). */
  readonly asked: (body: ReadonlyArray<Buffer>, head: ResponseHead | undefined) => void
  /** A part of the machine's answer. */
  readonly heard: (chunk: Buffer) => void
  /** The answer broke off. */
  readonly broke: () => void
  /** The client that introduces itself by this exchange. */
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

export const watcher = (tools: Pick<ToolCalls, "count">) => {
  const clients = new LRUCache<string, string>({ max: capacity })
  /** Who sends requests that belong to no session: whoever has this token, as far as this process has seen it. */
  const senderOf = (serverId: string, { headers: { authorization } }: IncomingMessage) =>
    authorization === undefined ? undefined : hash("sha256", `${serverId} ${authorization}`, "base64")

  const clientOf = (serverId: string, req: IncomingMessage) => {
    const id = req.headers["mcp-session-id"]
    const named = typeof id === "string" ? clientOfSessionId(id) : undefined
    if (named !== undefined) return named
    const sender = senderOf(serverId, req)
    return sender === undefined ? undefined : clients.get(sender)
  }

  return ({ authMode, serverId }: Route, req: IncomingMessage, res: ServerResponse): Watch => {
    // A byoa server's traffic is its owner's: the gateway passes it unseen.
    if (req.method !== "POST" || authMode === "byoa" || req.headers["content-encoding"] !== undefined) return unwatched
    let asked: Asked | undefined
    let isStream = false
    let isReadable = false
    let isBroken = false
    let size = 0
    let chunks: Array<Buffer> = []
    return {
      asked: (body, head) => {
        asked = askedIn(body)
        isReadable = asked.calls.length > 0 && head !== undefined && !head.isEncoded
        isStream = isReadable && head !== undefined && isEventStream(head)
        if (asked.client === undefined) return
        const sender = senderOf(serverId, req)
        if (sender !== undefined) clients.set(sender, asked.client.slice(0, 128))
      },
      heard: (chunk) => {
        if (!isReadable) return
        size += chunk.length
        if (size <= maxLooked) chunks.push(chunk)
        else {
          isReadable = false
          chunks = []
        }
      },
      broke: () => isBroken = true,
      client: () => asked?.client,
      ended: (millis) => {
        if (asked === undefined || asked.calls.length === 0) return
        const allFailed = isBroken || res.headersSent && res.statusCode >= 400
        const failed = allFailed || !isReadable ? undefined : failedIn(chunks, isStream)
        // Accepted, and answered elsewhere: how long it took is unknown.
        const took = res.statusCode === 202 ? undefined : millis
        for (const { client = clientOf(serverId, req), id, tool } of asked.calls) {
          tools.count(serverId, { tool, client, isError: allFailed || failed?.has(id) === true, millis: took })
        }
      }
    }
  }
}
