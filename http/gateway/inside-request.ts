import { TakeableRequest } from "#http/connection/taken-body.ts"
import { type Socket } from "node:net"

export interface InsideHead {
  readonly method: string
  readonly url: string
  /** Names in lower case, each once. */
  readonly headers: Readonly<Record<string, string>>
}

/** Of a client on this host: there is no connection. */
const nowhere = { remoteAddress: "127.0.0.1", readable: false, destroyed: false, destroy: () => undefined }

/** A request of this process to the gateway, as Node makes one of what it has read: its body has arrived. */
export const insideRequest = ({ headers, method, url }: InsideHead, body: Buffer): TakeableRequest => {
  const req = new TakeableRequest(nowhere as unknown as Socket)
  const all: Record<string, string> = body.length === 0
    ? headers
    : { ...headers, "content-length": String(body.length) }
  req.method = method
  req.url = url
  req.httpVersion = "1.1"
  req.httpVersionMajor = 1
  req.httpVersionMinor = 1
  req.rawHeaders = Object.entries(all).flat()
  req.headers = all
  req.headersDistinct = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, [value]]))
  req.complete = true
  if (body.length > 0) req.push(body)
  req.push(null)
  return req
}
