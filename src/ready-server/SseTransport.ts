import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import { type JSONRPCMessage, JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js"
import { randomUUID } from "node:crypto"
import type { ServerResponse } from "node:http"

const keepAliveMs = 15_000
/** Bytes buffered for a client that does not read; above this it is disconnected. */
const maxBufferedBytes = 8_000_000

/**
 * The HTTP+SSE transport of MCP 2024-11-05. The SDK's own announces an absolute `/message`, which loses the path prefix
 * when a gateway serves this machine below one (`/s/{slug}/sse`); a relative reference resolves correctly in both
 * forms.
 */
export class SseTransport implements Transport {
  readonly sessionId: string = randomUUID()
  /** The caller that opened it, the only one that may post to it. */
  readonly caller: string
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #response: ServerResponse
  #timer: NodeJS.Timeout | undefined

  constructor(response: ServerResponse, caller: string) {
    this.#response = response
    this.caller = caller
  }

  async start(): Promise<void> {
    this.#response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no"
    })
    this.#response.write(`event: endpoint\ndata: message?sessionId=${this.sessionId}\n\n`)
    this.#timer = setInterval(() => this.#write(": keep-alive\n\n"), keepAliveMs)
    this.#response.on("close", () => {
      clearInterval(this.#timer)
      this.onclose?.()
    })
  }

  /** Passes a posted message to the server; false when it is not JSON-RPC. */
  receive(body: unknown): boolean {
    const message = JSONRPCMessageSchema.safeParse(body)
    if (message.success) this.onmessage?.(message.data)
    return message.success
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
  }

  #write(text: string): void {
    if (this.#response.writableEnded || this.#response.destroyed) return
    this.#response.write(text)
    if (this.#response.writableLength > maxBufferedBytes) this.#response.destroy()
  }

  async close(): Promise<void> {
    this.#response.end()
  }
}
