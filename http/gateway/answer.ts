import { closedPolicy } from "#http/answers/content-security.ts"
import { type ClientResponse } from "#http/connection/client-response.ts"
import { linger } from "#http/connection/linger.ts"
import { newUlid } from "#src/shared/ids.ts"
import { type IncomingMessage, STATUS_CODES } from "node:http"
import { cors } from "./cors.ts"

export interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The connection is needed: what its client still sends is not waited for as long as elsewhere. */
  readonly isHasty?: boolean
}

const hastyBounds = { bytes: 1024 * 1024, millis: 2_000, silentMillis: 500 } as const

const requestIdPattern = /^[\w.:-]{8,128}$/

const requestId = ({ headers }: IncomingMessage) => {
  const sent = headers["x-request-id"]
  return typeof sent === "string" && requestIdPattern.test(sent) ? sent : newUlid()
}

/** Answers a request ourselves: not cacheable, readable by any page, with a request id. */
export const answer = (
  req: IncomingMessage,
  res: ClientResponse,
  { body, headers, isHasty = false, status }: Answer
) => {
  if (res.headersSent || res.destroyed) return
  res.on("error", () => undefined)
  const text = body === undefined ? "" : JSON.stringify(body)
  // May have been changed for a machine's response whose headers were invalid.
  res.sendDate = true
  res.writeHead(status, STATUS_CODES[status], {
    ...cors.open,
    "Cache-Control": "no-store",
    "Content-Security-Policy": closedPolicy,
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": requestId(req),
    ...(body === undefined ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) }),
    ...headers
  })
  // The response is complete with its last byte; `end` would let Node close the connection.
  if (text !== "") res.write(text)
  linger(req, () => res.end(), isHasty ? hastyBounds : undefined)
}

/** A failure in the platform's envelope. */
export const failure = (
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  details?: Readonly<Record<string, unknown>>
): Answer => ({ status, headers, body: { error: { code, message, ...(details === undefined ? {} : { details }) } } })
