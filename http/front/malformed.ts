import { closedPolicy } from "#http/answers/content-security.ts"
import { plans } from "#src/plans/Plan.ts"
import { codeOf } from "#src/shared/Failure.ts"
import { newUlid } from "#src/shared/ids.ts"
import { type Server, type ServerResponse, STATUS_CODES } from "node:http"
import { type Duplex } from "node:stream"

const reasons: Readonly<Record<string, readonly [status: number, code: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "HEADERS_TOO_LARGE", "The request line and headers are larger than 16 KiB"],
  HPE_INVALID_METHOD: [400, codeOf(400), "The request's method is not known"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "REQUEST_TIMEOUT", "The request took too long to arrive"]
}
const unreadable = [400, codeOf(400), "The request is not valid HTTP (RFC 9112)"] as const

const tunnel = [405, codeOf(405), "CONNECT is not supported"] as const

const rawResponse = ([status, code, message]: readonly [status: number, code: string, message: string]) => {
  const body = JSON.stringify({ error: { code, message } })
  const limit = plans.free.requestsPerMinute
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Content-Security-Policy: ${closedPolicy}`,
    "X-Content-Type-Options: nosniff",
    `X-Request-Id: ${newUlid()}`,
    `X-RateLimit-Limit: ${limit}`,
    `X-RateLimit-Remaining: ${limit}`,
    `X-RateLimit-Reset: ${Math.ceil(Date.now() / 1000) + 60}`,
    "Connection: close",
    "",
    body
  ].join("\r\n")
}

/** How long a client has to read the error. */
const graceMillis = 5_000

/** Answers requests that Node can't parse with the usual envelope and headers, and closes the connection. */
export const answerMalformed = (server: Server) => {
  const answering = new WeakMap<Duplex, ServerResponse>()
  server.on("request", (req, res) => answering.set(req.socket, res))
  const close = (socket: Duplex, text: string) => {
    socket.end(text)
    // A client that neither reads nor closes would keep the connection.
    setTimeout(() => socket.destroy(), graceMillis).unref()
  }
  server.on("connect", (_req, socket) => {
    // Node has let go of it: what comes is not read, its end is not noticed, and an error of it would end the process.
    socket.on("error", () => undefined).on("end", () => socket.destroy()).resume()
    const current = answering.get(socket)
    const refuse = () => close(socket, rawResponse(tunnel))
    if (current === undefined || current.writableFinished) refuse()
    else current.once("close", refuse)
  })
  server.on("clientError", (error, socket) => {
    const current = answering.get(socket)
    // No other response can be sent while one is being written.
    const canRespond = current === undefined || current.writableFinished || !current.headersSent
    if (socket.writable && canRespond) {
      close(socket, rawResponse(reasons[(error as NodeJS.ErrnoException).code ?? ""] ?? unreadable))
    } else socket.destroy()
  })
}
