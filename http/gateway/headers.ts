import {
  type Addressing,
  forwardingHeaders,
  gatewayTokenHeader,
  rewriteAddress,
  rewriteChallenge
} from "#src/routing/addressing.ts"
import { type IncomingMessage } from "node:http"
import { untagSessionId } from "./session-tag.ts"
import { sharedOrigin } from "./shared-origin.ts"
import { onwardTrace } from "./trace.ts"

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
const sessionId = "mcp-session-id"

/** What the rules say of a header's name. */
interface Rules {
  readonly lower: string
  /** Never passed on, in either direction. */
  readonly isDropped: boolean
  readonly isSetByGateway: boolean
  readonly isForGateway: boolean
}

const rulesOf = (name: string): Rules => {
  const lower = name.toLowerCase()
  // CGI and similar interfaces treat `_` and `-` alike: `X_Forwarded_For` would be taken for our header.
  const hyphened = lower.replaceAll("_", "-")
  return {
    lower,
    isDropped: hopByHop.has(lower) || cookies.has(hyphened),
    isSetByGateway: isSetByGateway(hyphened),
    isForGateway: hyphened === gatewayToken || forProxies.has(lower)
  }
}

/** Clients and machines send the same few names again and again, and any others that they like. */
const known = new Map<string, Rules>()
const [mostKnown, longestKnown] = [1_000, 64]

const rulesFor = (name: string): Rules => {
  const found = known.get(name)
  if (found !== undefined) return found
  const rules = rulesOf(name)
  if (known.size < mostKnown && name.length <= longestKnown) known.set(name, rules)
  return rules
}

const namedIn = (connection: string | undefined) =>
  connection === undefined || /^(keep-alive|close)$/i.test(connection)
    ? undefined
    : new Set(connection.toLowerCase().split(",").map((name) => name.trim()))

/**
 * Copies raw headers, in order and spelling, without hop-by-hop ones. `pass` returns the value to send; undefined omits
 * the header.
 */
const copy = (
  rawHeaders: ReadonlyArray<string>,
  connection: string | undefined,
  pass: (rules: Rules, value: string) => string | undefined
): Array<string> => {
  const named = namedIn(connection)
  const out: Array<string> = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    const rules = rulesFor(name)
    if (rules.isDropped || named?.has(rules.lower) === true) continue
    const value = pass(rules, rawHeaders[i + 1]!)
    if (value !== undefined) out.push(name, value)
  }
  return out
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

/** The machine's request headers: end-to-end ones unchanged, and our own forwarding headers; none of framing. */
export const requestHeaders = (
  req: IncomingMessage,
  { addressing, readable, replayToken, trustProxy }: Upstream
): Array<string> => {
  const trace = onwardTrace(req)
  const isReplaced = (lower: string) =>
    readable && lower === "accept-encoding" ||
    trace !== undefined && (lower === "traceparent" || trace.isNew && lower === "tracestate")
  const out = copy(
    req.rawHeaders,
    req.headers.connection,
    ({ isSetByGateway, lower }, value) =>
      lower === "host" || isSetByGateway || isReplaced(lower)
        ? undefined
        : lower === sessionId
        ? untagSessionId(value)
        : value
  )
  const chain = trustProxy > 0 ? req.headers["x-forwarded-for"] : undefined
  const address = peer(req)
  const from = chain === undefined ? address : `${String(chain)}, ${address}`
  out.push(...forwardingHeaders(addressing, from, replayToken))
  if (trace !== undefined) out.push("traceparent", trace.traceparent)
  return out
}

/** The parser reads a reason phrase as UTF-8; Node writes each character as a byte. */
export const reasonBytes = (reason: string) =>
  /[^\0-\x7f]/.test(reason) ? Buffer.from(reason, "utf8").toString("latin1") : reason

/** The head of a machine's response, with what decides how it is passed on. */
export interface ResponseHead {
  readonly rawHeaders: ReadonlyArray<string>
  readonly connection: string | undefined
  readonly contentType: string
  readonly isEncoded: boolean
  readonly hasLength: boolean
  /** It has a CORS policy of its own. */
  readonly hasCors: boolean
  /** It names a session. */
  readonly hasSession: boolean
}

export const isEventStream = ({ contentType }: ResponseHead) => /^text\/event-stream\b/i.test(contentType)

/** Whether we can append to the machine's bytes: an event stream without compression and fixed length. */
export const isOpenEnded = (head: ResponseHead) => isEventStream(head) && !head.isEncoded && !head.hasLength

/** Reads the parser's flat list of names and values (RFC 9110 §5.5: bytes, each a character of Latin-1). */
export const readHead = (headers: ReadonlyArray<Buffer>) => headOf(headers.map((part) => part.toString("latin1")))

export const headOf = (rawHeaders: ReadonlyArray<string>): ResponseHead => {
  let connection: string | undefined
  let contentType: string | undefined
  let [isEncoded, hasLength, hasCors, hasSession] = [false, false, false, false]
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const value = rawHeaders[i + 1]!
    switch (rulesFor(rawHeaders[i]!).lower) {
      case "content-type":
        contentType ??= value
        break
      case "content-length":
        hasLength = true
        break
      case "content-encoding":
        isEncoded = true
        break
      case "connection":
        connection = connection === undefined ? value : `${connection}, ${value}`
        break
      case "access-control-allow-origin":
        hasCors = true
        break
      case sessionId:
        hasSession = true
    }
  }
  return { rawHeaders, connection, contentType: contentType ?? "", isEncoded, hasLength, hasCors, hasSession }
}

interface Outward {
  /** The body's will change, or there is none (RFC 9110 §8.6: a 204). */
  readonly withoutLength: boolean
  /** Makes the machine's `Mcp-Session-Id` the client's. */
  readonly nameSession: (id: string) => string
}

/** The client's response headers. */
export const responseHeaders = (
  { connection, rawHeaders }: ResponseHead,
  addressing: Addressing,
  { nameSession, withoutLength }: Outward
): Array<string> => {
  const shared = addressing.prefix === "" ? undefined : sharedOrigin()
  const out = copy(rawHeaders, connection, ({ isForGateway, lower }, value) => {
    switch (lower) {
      case "content-length":
        return withoutLength ? undefined : value
      case "location":
      case "content-location":
        return rewriteAddress(addressing, value)
      case sessionId:
        return nameSession(value)
    }
    if (isForGateway) return undefined
    const outward = lower === "www-authenticate" ? rewriteChallenge(addressing, value) : value
    return shared === undefined ? outward : shared.pass(lower, outward)
  })
  if (shared !== undefined) out.push(...shared.added())
  return out
}
