import { timesSent } from "#http/connection/times-sent.ts"
import { type IncomingMessage } from "node:http"

/**
 * Why a request's framing is ambiguous, or undefined. Requests that two parsers read differently allow request
 * smuggling (RFC 9112 §6.1, §6.3, §11.2). Node's parser rejects most of them; this catches the others.
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

/** RFC 9112 §6.3: a request has a body if its headers announce one. */
export const hasBody = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"

/** A WebSocket handshake. Other upgrades (h2c) are offers and are ignored (RFC 9110 §7.8). */
export const wantsWebSocket = ({ headers }: IncomingMessage) =>
  /(^|,)\s*websocket\s*(,|\/|$)/i.test(headers.upgrade ?? "")
