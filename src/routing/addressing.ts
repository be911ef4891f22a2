import { protectedResource } from "#src/shared/well-known.ts"
import { type IncomingMessage } from "node:http"

/** A machine's names: its own, and the one in the client's URL (docs/decisions/machine-host.md). */
export interface Addressing {
  /** The `Host` sent to it: `localhost:PORT`. */
  readonly machineHost: string
  /** The host that the client used, for `X-Forwarded-Host`. */
  readonly clientHost: string
  /** The scheme of the client's URL. */
  readonly scheme: string
  /** `/s/{slug}` in the path form, where it shares the platform's origin; empty in the host form. */
  readonly prefix: string
}

export interface AddressingSource {
  /** Number of trusted proxies in front (`TRUST_PROXY`). */
  readonly trustProxy: number
  /** Scheme of the platform's public URL: with TLS in a proxy, requests arrive as http. */
  readonly scheme: string
  /** Host of the public URL, for an HTTP/1.0 client that sends none. */
  readonly host: string
}

/** The public URL as requests are compared with it, and its path. */
export const publicSide = ({ baseUrl, trustProxy }: { readonly baseUrl: string; readonly trustProxy: number }) => {
  const { host, pathname, protocol } = new URL(baseUrl)
  const from: AddressingSource = { trustProxy, scheme: protocol.slice(0, -1), host }
  return { from, trustProxy, base: pathname.replace(/\/$/, "") }
}

export const addressingOf = (
  { headers }: IncomingMessage,
  from: AddressingSource,
  machineHost: string,
  prefix: string
): Addressing => {
  const trusted = from.trustProxy > 0
  const host = trusted ? headers["x-forwarded-host"] : undefined
  const scheme = trusted ? headers["x-forwarded-proto"] : undefined
  return {
    machineHost,
    clientHost: host === undefined ? headers.host ?? from.host : String(host),
    scheme: scheme !== undefined && /^https?$/i.test(String(scheme)) ? String(scheme) : from.scheme,
    prefix
  }
}

/**
 * Carries the server's `PLATFORM_MCP_REPLAY_TOKEN` to its machine, which can reject requests that did not pass the
 * gateway. It is removed from clients' requests and from responses.
 */
export const gatewayTokenHeader = "X-Berth-Gateway-Token"

/** What a request to a machine says of its way there: a flat list of names and values. `from`: the client's address. */
export const forwardingHeaders = (
  { clientHost, machineHost, prefix, scheme }: Addressing,
  from: string,
  replayToken: string
): Array<string> => [
  "Host",
  machineHost,
  "X-Forwarded-For",
  from,
  "X-Forwarded-Host",
  clientHost,
  "X-Forwarded-Proto",
  scheme,
  ...(prefix === "" ? [] : ["X-Forwarded-Prefix", prefix]),
  gatewayTokenHeader,
  replayToken
]

const absolute = /^https?:\/\/([^/?#]*)(.*)$/is

const isBelow = (prefix: string, path: string) =>
  path === prefix || path.startsWith(`${prefix}/`) || path.startsWith(`${prefix}?`)

/** A machine's path as a path of the client's URL; the machine may have added the prefix already. */
const withPrefix = (prefix: string, path: string) => {
  if (prefix !== "") return isBelow(prefix, path) ? path : prefix + path
  // A reference that begins with two slashes would name a host (RFC 3986 §4.2).
  return path.startsWith("//") ? `/.${path}` : path
}

/**
 * Rewrites a machine's own address for its client (as ProxyPassReverse does): the path on the host that the client
 * used. Relative addresses, and those of other hosts, stay unchanged.
 */
export const rewriteAddress = ({ machineHost, prefix }: Addressing, address: string): string => {
  if (/^\/(?!\/)/.test(address)) return withPrefix(prefix, address)
  const [, authority, rest = ""] = absolute.exec(address) ?? []
  if (authority?.toLowerCase() !== machineHost) return address
  return withPrefix(prefix, rest.startsWith("/") ? rest : `/${rest}`)
}

/** The same for the legacy transport's `endpoint`: a machine may know its clients' host and lack only the prefix. */
export const rewriteEndpoint = (addressing: Addressing, address: string): string => {
  const [, authority, rest = ""] = absolute.exec(address) ?? []
  const { clientHost, prefix } = addressing
  return prefix !== "" && rest.startsWith("/") && authority?.toLowerCase() === clientHost.toLowerCase()
    ? isBelow(prefix, rest) ? address : prefix + rest
    : rewriteAddress(addressing, address)
}

/** A challenge names its server's metadata by an absolute URL (RFC 9728 §5.1). */
export const rewriteChallenge = (
  { machineHost, clientHost, prefix, scheme }: Addressing,
  challenge: string
): string => {
  if (!challenge.toLowerCase().includes(`//${machineHost}`)) return challenge
  return challenge.replace(/https?:\/\/([^/?#"\s,]*)([^"\s,]*)/gi, (address, authority: string, path: string) => {
    if (authority.toLowerCase() !== machineHost) return address
    const below = path.startsWith(protectedResource)
      ? `${protectedResource}${prefix}${path.slice(protectedResource.length)}`
      : prefix + path
    return `${scheme}://${clientHost}${below}`
  })
}
