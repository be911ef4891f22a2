import { closedPolicy } from "#http/answers/content-security.ts"
import { rateHeaders, uncountedRate } from "#http/answers/rate-headers.ts"
import { linger } from "#http/connection/linger.ts"
import { type Refusal } from "#src/uploads/Refusal.ts"
import { createReadStream } from "node:fs"
import { type IncomingMessage, type ServerResponse } from "node:http"
import { pipeline } from "node:stream/promises"

/** A part of a file, both ends inclusive; of an empty file `end` is -1. */
export interface FilePart {
  readonly path: string
  readonly start: number
  readonly end: number
}

export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | number>>
  readonly body?: Buffer
  readonly file?: FilePart
}

export const json = (status: number, value: unknown, headers: Reply["headers"] = {}): Reply => ({
  status,
  headers: { "Content-Type": "application/json", ...headers },
  body: Buffer.from(JSON.stringify(value))
})

/** RFC 7617: what `docker login` and its like understand; a key as Bearer is taken, too. */
const challenge = "Basic realm=\"Berth\", charset=\"UTF-8\""

/** Seconds, for who sends too much and is not told another time. */
const retryAfter = 60

/** The specification's envelope, "Error Codes". */
export const errorReply = ({ code, detail, message, status }: Refusal, headers: Reply["headers"] = {}): Reply =>
  json(status, { errors: [{ code, message, ...(detail === undefined ? {} : { detail }) }] }, {
    ...(code === "UNAUTHORIZED" ? { "WWW-Authenticate": challenge } : {}),
    ...(code === "TOOMANYREQUESTS" ? { "Retry-After": retryAfter } : {}),
    ...headers
  })

/** Sends it, at once and before the rest of a body that nobody reads. */
export const sendReply = async (req: IncomingMessage, res: ServerResponse, requestId: string, reply: Reply) => {
  const { body, file, headers, status } = reply
  if (res.headersSent || res.destroyed) return
  res.on("error", () => undefined)
  const length = file === undefined ? body?.length ?? 0 : file.end - file.start + 1
  res.writeHead(status, {
    "Docker-Distribution-API-Version": "registry/2.0",
    "Cache-Control": "no-store",
    "Content-Security-Policy": closedPolicy,
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": requestId,
    ...rateHeaders(uncountedRate()),
    ...(status === 204 ? {} : { "Content-Length": length }),
    ...headers
  })
  if (req.method !== "HEAD" && body !== undefined) res.write(body)
  if (req.method === "HEAD" || file === undefined || length === 0) return linger(req, () => res.end())
  // A client that goes away ends the answer.
  await pipeline(createReadStream(file.path, { start: file.start, end: file.end }), res).catch(() => res.destroy())
}
