import { timesSent } from "#http/connection/times-sent.ts"
import { type IncomingMessage } from "node:http"

/**
 * Why a request's framing is not to be trusted, or undefined. What two parsers can read differently is how requests
 * are smuggled (RFC 9112 §6.1, §6.3, §11.2); Node's parser refuses most of it, this holds what it lets through.
 */
export const framingProblem = (req: IncomingMessage): string | undefined => {
  const { headers, httpVersionMajor, httpVersionMinor } = req
  if (timesSent(req, "authorization") > 1) return "There is more than one Authorization header"
  const coding = headers["transfer-encoding"]
  if (coding === undefined) {
    const length = headers["content-length"]
    return length === undefined || /^\d{1,15}$/.test(length) ? undefined : "The Content-Length is not a number"
  }
  if (headers["content-length"] !== undefined) return "There are both a Content-Length and a Transfer-Encoding"
  if (timesSent(req, "transfer-encoding") > 1 || coding.toLowerCase() !== "chunked") {
    return "The only Transfer-Encoding accepted is chunked"
  }
  return httpVersionMajor === 1 && httpVersionMinor === 0 ? "HTTP/1.0 has no Transfer-Encoding" : undefined
}

/** RFC 9112 §6.3: a request has a body when it says so. */
export const hasBody = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"

/** A handshake for WebSocket. Other upgrades (h2c) are offers, and ignored (RFC 9110 §7.8). */
export const wantsWebSocket = ({ headers }: IncomingMessage) =>
  /(^|,)\s*websocket\s*(,|\/|$)/i.test(headers.upgrade ?? "")
