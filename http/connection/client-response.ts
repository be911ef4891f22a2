import { type OutgoingHttpHeaders } from "node:http"

/** What the gateway needs of a response: Node's has it, and so has that of a request that passed Node's parser by. */
export interface ClientResponse {
  statusCode: number
  sendDate: boolean
  readonly headersSent: boolean
  readonly writableEnded: boolean
  readonly writableNeedDrain: boolean
  readonly destroyed: boolean
  writeHead(status: number, reason: string | undefined, headers: Array<string> | OutgoingHttpHeaders): unknown
  flushHeaders(): void
  writeContinue(): void
  write(chunk: Uint8Array | string): boolean
  end(chunk?: Uint8Array | string): unknown
  /** Ends it with a last part, a character for each byte, in one write with the headers, if they wait still. */
  endAtOnce?(text: string): unknown
  destroy(): unknown
  on(event: "close" | "drain" | "error", listener: () => void): unknown
  once(event: "close" | "drain" | "error", listener: () => void): unknown
  off(event: "close" | "drain" | "error", listener: () => void): unknown
}
