import { newUlid } from "#src/shared/ids.ts"
import { type IncomingMessage, type ServerResponse } from "node:http"
import { cors } from "./cors.ts"

export interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** How long a client may go on sending the body of a request that was answered without reading it. */
const lingerMs = 2_000

/** Lets a refused client read its answer instead of a reset, without taking in its body for ever. */
const linger = (req: IncomingMessage) => {
  if (req.complete) return
  const { socket } = req
  const cut = setTimeout(() => socket.destroy(), lingerMs)
  const done = () => clearTimeout(cut)
  req.once("end", done)
  req.once("close", done)
  req.on("error", () => undefined)
  req.resume()
}

/** Answers a request ourselves. Never cached by anybody, readable by any page, named by a request id. */
export const answer = (req: IncomingMessage, res: ServerResponse, { body, headers, status }: Answer) => {
  if (res.headersSent || res.destroyed) return
  const text = body === undefined ? "" : JSON.stringify(body)
  res.writeHead(status, {
    ...cors.open,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": newUlid(),
    ...(body === undefined ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }),
    ...headers
  })
  linger(req)
  res.end(text)
}

/** A failure in the platform's envelope. */
export const failure = (
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {}
): Answer => ({ status, headers, body: { error: { code, message } } })
