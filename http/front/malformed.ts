import { closedPolicy } from "#http/answers/content-security.ts"
import { rateHeaders, uncountedRate } from "#http/answers/rate-headers.ts"
import { codeOf } from "#src/shared/Failure.ts"
import { newUlid } from "#src/shared/ids.ts"
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import { type Duplex } from "node:stream"

const reasons: Readonly<Record<string, readonly [status: number, code: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "HEADERS_TOO_LARGE", "The request line and headers are larger than 16 KiB"],
  HPE_INVALID_METHOD: [400, codeOf(400), "The request's method is not known"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "REQUEST_TIMEOUT", "The request took too long to arrive"],
  CONNECT: [405, codeOf(405), "CONNECT is not supported"]
}
const unreadable = [400, codeOf(400), "The request is not valid HTTP (RFC 9112)"] as const

const rawResponse = ([status, code, message]: readonly [status: number, code: string, message: string]) => {
  const body = JSON.stringify({ error: { code, message } })
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Content-Security-Policy: ${closedPolicy}`,
    "X-Content-Type-Options: nosniff",
    `X-Request-Id: ${newUlid()}`,
    ...Object.entries(rateHeaders(uncountedRate())).map(([name, value]) => `${name}: ${value}`),
    "Connection: close",
    "",
    body
  ].join("\r\n")
}

/** How long a client has to read the error. */
const graceMillis = 5_000

interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

/**
 * Answers requests that Node can't parse with the usual envelope and headers, and closes the connection. What it returns
 * has to know of each request that Node announces by another event than "request".
 */
export const answerMalformed = (server: Server) => {
  const latest = new WeakMap<Duplex, Exchange>()
  const refused = new WeakSet<Duplex>()
  const begin = (req: IncomingMessage, res: ServerResponse) => void latest.set(req.socket, { req, res })
  server.on("request", begin)
  const close = (socket: Duplex, reason = "") => {
    if (!socket.writable) return socket.destroy()
    socket.end(rawResponse(reasons[reason] ?? unreadable))
    // A client that neither reads nor closes would keep the connection.
    setTimeout(() => socket.destroy(), graceMillis).unref()
  }
  /** In its turn (RFC 9112 §9.3.2): after the answers to all that came before. */
  const refuse = (socket: Duplex, reason?: string) => {
    if (refused.has(socket)) return
    refused.add(socket)
    const { req, res } = latest.get(socket) ?? {}
    if (req === undefined || res === undefined || res.closed || res.writableFinished) return close(socket, reason)
    if (req.complete) {
      if (socket.readableEnded) return void socket.destroy()
      // Node has given up on it: that its client leaves meanwhile is noticed here.
      socket.on("end", () => socket.destroy())
      return void res.once("close", () => close(socket, reason))
    }
    // The rest of this very request is what can't be read.
    if (res.socket === null || res.headersSent) return void socket.destroy()
    close(socket, reason)
  }
  server.on("connect", (_req, socket) => {
    // Node has let go of it: what comes is not read, its end is not noticed, and an error of it would end the process.
    socket.on("error", () => undefined).resume()
    refuse(socket, "CONNECT")
  })
  server.on("clientError", (error, socket) => refuse(socket, (error as NodeJS.ErrnoException).code))
  return begin
}
