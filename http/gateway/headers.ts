import { type IncomingMessage } from "node:http"

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
 * Hosted servers take Bearer tokens only (design: origins). In the path form they share the platform's origin: its
 * sign-in would reach every machine, and a machine could put one of its own in its place, or take it away.
 */
const cookies = new Set(["cookie", "cookie2", "set-cookie", "set-cookie2", "clear-site-data"])

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

/** Copies raw headers, in order and spelling, without those that are for one hop only. */
const copy = (
  message: IncomingMessage,
  drop: (name: string) => boolean
): Array<string> => {
  const { rawHeaders } = message
  const named = namedBy(message.headers.connection)
  const out: Array<string> = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (hopByHop.has(name) || cookies.has(plain(name)) || named?.has(name) || drop(name)) continue
    out.push(rawHeaders[i]!, rawHeaders[i + 1]!)
  }
  return out
}

export interface ForwardedFrom {
  /** Proxies in front whose word counts (`TRUST_PROXY`). */
  readonly trustProxy: number
  /** Scheme of the platform's public URL, which TLS in front hides from us. */
  readonly scheme: string
  /** Host of the public URL, for a client of HTTP/1.0 that names none. */
  readonly host: string
  /** `/s/{slug}` in the path form, else empty. */
  readonly prefix: string
  /** The machine's event stream will be read: it must not come compressed. */
  readonly readable: boolean
  /** The server's `PLATFORM_MCP_REPLAY_TOKEN`. */
  readonly replayToken: string
}

const noBodyByNature = new Set(["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"])

const framing = ({ headers, method = "" }: IncomingMessage) => {
  if (headers["transfer-encoding"] !== undefined) return ["Transfer-Encoding", "chunked"]
  const length = headers["content-length"]
  if (length !== undefined) return ["Content-Length", length]
  return noBodyByNature.has(method) ? [] : ["Content-Length", "0"]
}

const peer = (req: IncomingMessage) => (req.socket.remoteAddress ?? "unknown").replace(/^::ffff:(?=\d+\.)/i, "")

/** The machine's request headers: end-to-end ones as they came, and where the request came from by our own word. */
export const requestHeaders = (req: IncomingMessage, from: ForwardedFrom): Array<string> => {
  const { headers } = req
  const out = copy(req, (name) => ours(plain(name)) || from.readable && name === "accept-encoding")
  const told = <A extends string | ReadonlyArray<string>>(value: A | undefined) =>
    from.trustProxy > 0 && value !== undefined ? String(value) : undefined
  const chain = told(headers["x-forwarded-for"])
  const address = peer(req)
  out.push("X-Forwarded-For", chain === undefined ? address : `${chain}, ${address}`)
  if (headers.host === undefined) out.push("Host", from.host)
  out.push("X-Forwarded-Host", told(headers["x-forwarded-host"]) ?? headers.host ?? from.host)
  const scheme = told(headers["x-forwarded-proto"])
  out.push("X-Forwarded-Proto", scheme !== undefined && /^https?$/i.test(scheme) ? scheme : from.scheme)
  if (from.prefix !== "") out.push("X-Forwarded-Prefix", from.prefix)
  out.push(gatewayTokenHeader, from.replayToken)
  out.push(...framing(req))
  return out
}

/** The client's response headers; `rewritten`: the body will not have the length it was announced with. */
export const responseHeaders = (response: IncomingMessage, rewritten: boolean): Array<string> =>
  copy(response, (name) => plain(name) === gatewayToken || rewritten && name === "content-length")
