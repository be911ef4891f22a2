import {
  type Addressing,
  forwardingHeaders,
  gatewayTokenHeader,
  rewriteAddress,
  rewriteChallenge
} from "#src/routing/addressing.ts"
import { type IncomingMessage } from "node:http"
import { sharedOrigin } from "./shared-origin.ts"

/** RFC 9110 §7.6.1, and the proxy's own credentials (§11.7). Trailers are dropped, so their announcement is too. */
const hopByHop = new Set([
  "connection",
  "proxy-connection",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
  "proxy-authenticate",
  "proxy-authentication-info",
  "proxy-authorization"
])

/**
 * Hosted servers use Bearer tokens only. In the path form they share the platform's origin, in the host form its site:
 * with cookies, every machine would receive the platform's session and could replace or delete it. The last two headers
 * set cookies in another way (Device Bound Session Credentials).
 */
const cookies = new Set([
  "cookie",
  "cookie2",
  "set-cookie",
  "set-cookie2",
  "clear-site-data",
  "secure-session-registration",
  "secure-session-challenge"
])

/** Instructions to a proxy in front, such as to send a file; nginx follows those of any backend. */
const forProxies = new Set(["x-accel-redirect", "x-sendfile", "x-lighttpd-send-file", "x-reproxy-url"])

/** Headers that the gateway sets itself; `content-length` comes from the parsed request. */
const isSetByGateway = (name: string) =>
  name.startsWith("x-forwarded-") || name === "forwarded" || name === "x-real-ip" || name === "expect" ||
  name === "content-length" || name === gatewayToken

const gatewayToken = gatewayTokenHeader.toLowerCase()

/** CGI and similar interfaces treat `_` and `-` alike: `X_Forwarded_For` would be taken for our header. */
const withHyphens = (name: string) => name.includes("_") ? name.replaceAll("_", "-") : name

const namedIn = (connection: string | undefined) =>
  connection === undefined || /^(keep-alive|close)$/i.test(connection)
    ? undefined
    : new Set(connection.toLowerCase().split(",").map((name) => name.trim()))

/**
 * Copies raw headers, in order and spelling, without hop-by-hop ones. `pass` returns the value to send; undefined omits
 * the header.
 */
const copy = (message: IncomingMessage, pass: (name: string, value: string) => string | undefined): Array<string> => {
  const { rawHeaders } = message
  const named = namedIn(message.headers.connection)
  const out: Array<string> = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (hopByHop.has(name) || cookies.has(withHyphens(name)) || named?.has(name)) continue
    const value = pass(name, rawHeaders[i + 1]!)
    if (value !== undefined) out.push(rawHeaders[i]!, value)
  }
  return out
}

const noBodyByNature = new Set(["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"])

const framing = ({ headers, method = "" }: IncomingMessage) => {
  if (headers["transfer-encoding"] !== undefined) return ["Transfer-Encoding", "chunked"]
  const length = headers["content-length"]
  if (length !== undefined) return ["Content-Length", length]
  return noBodyByNature.has(method) ? [] : ["Content-Length", "0"]
}

const peer = (req: IncomingMessage) => (req.socket.remoteAddress ?? "unknown").replace(/^::ffff:(?=\d+\.)/i, "")

export interface Upstream {
  readonly addressing: Addressing
  /** Number of trusted proxies in front (`TRUST_PROXY`). */
  readonly trustProxy: number
  /** The gateway will read the machine's event stream, which must not be compressed. */
  readonly readable: boolean
  /** The server's `PLATFORM_MCP_REPLAY_TOKEN`. */
  readonly replayToken: string
}

/** The machine's request headers: end-to-end ones unchanged, and our own forwarding headers. */
export const requestHeaders = (
  req: IncomingMessage,
  { addressing, readable, replayToken, trustProxy }: Upstream
): Array<string> => {
  const out = copy(
    req,
    (name, value) =>
      name === "host" || isSetByGateway(withHyphens(name)) || readable && name === "accept-encoding" ? undefined : value
  )
  const chain = trustProxy > 0 ? req.headers["x-forwarded-for"] : undefined
  const address = peer(req)
  const from = chain === undefined ? address : `${String(chain)}, ${address}`
  out.push(...forwardingHeaders(addressing, from, replayToken))
  out.push(...framing(req))
  return out
}

/** The client's response headers; `rewritten`: the body's length will change. */
export const responseHeaders = (
  response: IncomingMessage,
  addressing: Addressing,
  rewritten: boolean
): Array<string> => {
  const shared = addressing.prefix === "" ? undefined : sharedOrigin()
  const out = copy(response, (name, value) => {
    switch (name) {
      case "content-length":
        return rewritten ? undefined : value
      case "location":
      case "content-location":
        return rewriteAddress(addressing, value)
    }
    if (withHyphens(name) === gatewayToken || forProxies.has(name)) return undefined
    const outward = name === "www-authenticate" ? rewriteChallenge(addressing, value) : value
    return shared === undefined ? outward : shared.pass(name, outward)
  })
  if (shared !== undefined) out.push(...shared.added())
  return out
}
