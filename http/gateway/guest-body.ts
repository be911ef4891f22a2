import { type IncomingMessage } from "node:http"
import { type Answer, failure } from "./answer.ts"

/** White space, marks of byte order, and the zeros in UTF-16 and UTF-32: programs recognise these by themselves. */
const blank = new Set([0x00, 0x09, 0x0a, 0x0d, 0x20, 0xbb, 0xbf, 0xef, 0xfe, 0xff])
/** No client sends as much before its message. */
const mostBlank = 1024
/** A batch, and what it begins with in the two forms of UTF-7. */
const refused = new Set(Buffer.from("[+&"))

const batch: Answer = {
  status: 400,
  body: {
    jsonrpc: "2.0",
    id: null,
    error: {
      code: -32600,
      message: "A guest sends each message by itself, and nothing before it: batches ended with MCP 2025-06-18"
    }
  }
}

const encoded = failure(
  415,
  "UNSUPPORTED_MEDIA_TYPE",
  "A guest's body has a Content-Encoding; send it without one",
  { "Accept-Encoding": "identity" }
)

/** A body that can't be looked into may be a batch. */
export const encodingRefused = ({ headers }: IncomingMessage): Answer | undefined =>
  /^\s*(identity\s*)?$/i.test(headers["content-encoding"] ?? "") ? undefined : encoded

/**
 * Why a guest's body is not passed on, by the part in which its message begins: a batch would be counted as one request
 * (docs/decisions/guests.md). `received`: what has come with this part.
 */
export const batchRefused = (part: Buffer, received: number): Answer | "unknown" | undefined => {
  const first = part.find((byte) => !blank.has(byte))
  if (first === undefined) return received > mostBlank ? batch : "unknown"
  return refused.has(first) ? batch : undefined
}
