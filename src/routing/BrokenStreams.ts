import { McpError } from "@modelcontextprotocol/sdk/types.js"
import { LRUCache } from "lru-cache"
import { randomUUID } from "node:crypto"
import { errorEvents } from "./error-events.ts"

/** "Connection closed" of the SDKs. */
const code = -32000

const idIn = (body: unknown) => {
  const { id, method } = typeof body === "string" ? JSON.parse(body) as Readonly<Record<string, unknown>> : {}
  return typeof method === "string" && (typeof id === "number" || typeof id === "string") ? id : undefined
}

/**
 * The event streams of one session of the SDK's client that broke off. The client drops what such a stream fails with,
 * and waits on for the answer: it is told by a last event, whose words nobody else knows.
 */
export class BrokenStreams {
  /** A client that had its answer never asks. */
  readonly #errors = new LRUCache<string, Error>({ max: 100 })

  /** Undefined: the stream answers no request. */
  readonly lastEvent = ({ body, method = "GET" }: RequestInit, error: Error): Uint8Array | undefined => {
    const id = method === "POST" ? idIn(body) : undefined
    if (id === undefined) return undefined
    const message = randomUUID()
    this.#errors.set(message, error)
    return Buffer.from(errorEvents([id], { code, message }))
  }

  /** What the stream failed with where the client's error says that it did, else that error. */
  readonly reason = (error: unknown): unknown => {
    const words = error instanceof McpError ? error.message.replace(/^MCP error -32000: /, "") : ""
    return this.#errors.get(words) ?? error
  }
}
