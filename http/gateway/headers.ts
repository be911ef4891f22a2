import { type IncomingMessage } from "node:http"
import { type Addressing, rewriteAddress, rewriteChallenge } from "./addressing.ts"
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
 * Hosted servers take Bearer tokens only. In the path form they share the platform's origin, in the host form its site:
 * its sign-in would reach every machine, and a machine could put one of its own in its place, or take it away. The last
 * two set cookies by another way (Device Bound Session Credentials).
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

/** Orders to a proxy in front, such as what else to answer with; nginx obeys whoever is behind it. */
const forProxies = new Set(["x-accel-redirect", "x-sendfile", "x-lighttpd-send-file", "x-reproxy-url"])

/** What only the gateway says of where a request came from; `content-length` is set from what was parsed. */
const ours = (name: string) =>
  name.startsWith("x-forwarded-") || name === "forwarded" || name === "x-real-ip" || name === "expect" ||
  name === "content-length" || name === gatewayToken

/**
 * Carries the server's `PLATFORM_MCP_REPLAY_TOKEN` to its machine, which can refuse what did not pass the gateway.
 * Nobody else may send it, and it is in no answer.
 */
export const gatewayTokenHeader = "X-Berth-Gateway-Token"
const gatewayToken = gatewayTokenHeader.toLowerCase()

/** CGI and its heirs don't tell `_` from `-` in a name: `X_Forwarded_For` would pass for ours. */
const plain = (name: string) => name.includes("_") ? name.replaceAll("_", "-") : name

const namedBy = (connection: string | undefined) =>
  connection === undefined || /^(keep-alive|close)$/i.test(connection)
    ? undefined
    : new Set(connection.toLowerCase().split(",").map((name) => name.trim()))

/**
 * Copies raw headers, in order and spelling, without those that are for one hop only. `pass` gives the value to send;
 * undefined leaves the header out.
 */
const copy = (message: IncomingMessage, pass: (name: string, value: string) => string | undefined): Array<string> => {
  const { rawHeaders } = message
  const named = namedBy(message.headers.connection)
  const out: Array<string> = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (hopByHop.has(name) || cookies.has(plain(name)) || named?.has(name)) continue
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
  /** Proxies in front whose word counts (`TRUST_PROXY`). */
  readonly trustProxy: number
  /** The machine's event stream will be read: it must not come compressed. */
  readonly readable: boolean
  /** The server's `PLATFORM_MCP_REPLAY_TOKEN`. */
  readonly replayToken: string
}

/** The machine's request headers: end-to-end ones as they came, and where the request came from by our own word. */
export const requestHeaders = (
  req: IncomingMessage,
  { addressing, readable, replayToken, trustProxy }: Upstream
): Array<string> => {
  const out = copy(
    req,
    (name, value) => name === "host" || ours(plain(name)) || readable && name === "accept-encoding" ? undefined : value
  )
  const chain = trustProxy > 0 ? req.headers["x-forwarded-for"] : undefined
  const address = peer(req)
  out.push("Host", addressing.machineHost)
  out.push("X-Forwarded-For", chain === undefined ? address : `${String(chain)}, ${address}`)
  out.push("X-Forwarded-Host", addressing.clientHost)
  out.push("X-Forwarded-Proto", addressing.scheme)
  if (addressing.prefix !== "") out.push("X-Forwarded-Prefix", addressing.prefix)
  out.push(gatewayTokenHeader, replayToken)
  out.push(...framing(req))
  return out
}

/** The client's response headers; `rewritten`: the body will not have the length it was announced with. */
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
    if (plain(name) === gatewayToken || forProxies.has(name)) return undefined
    const outward = name === "www-authenticate" ? rewriteChallenge(addressing, value) : value
    return shared === undefined ? outward : shared.pass(name, outward)
  })
  if (shared !== undefined) out.push(...shared.added())
  return out
}
