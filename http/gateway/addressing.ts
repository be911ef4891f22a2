import { protectedResource } from "#src/shared/well-known.ts"
import { type IncomingMessage } from "node:http"

/** What a machine is called, by us and by whoever sent the request (docs/decisions/machine-host.md). */
export interface Addressing {
  /** The `Host` that it is sent: `localhost:PORT`. */
  readonly machineHost: string
  /** The host that the client named, told in `X-Forwarded-Host`. */
  readonly clientHost: string
  /** Of the client's URL. */
  readonly scheme: string
  /** `/s/{slug}` in the path form, where it shares the platform's origin; empty in the host form. */
  readonly prefix: string
}

export interface AddressingSource {
  /** Proxies in front whose word counts (`TRUST_PROXY`). */
  readonly trustProxy: number
  /** Scheme of the platform's public URL, which TLS in front hides from us. */
  readonly scheme: string
  /** Host of the public URL, for a client of HTTP/1.0 that names none. */
  readonly host: string
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

const absolute = /^https?:\/\/([^/?#]*)(.*)$/is

const isBelow = (prefix: string, path: string) =>
  path === prefix || path.startsWith(`${prefix}/`) || path.startsWith(`${prefix}?`)

/** A path of the machine's, as a path of the client's URL; it may know the prefix already. */
const placed = (prefix: string, path: string) => {
  if (prefix !== "") return isBelow(prefix, path) ? path : prefix + path
  // A reference that begins with two slashes would name a host (RFC 3986 §4.2).
  return path.startsWith("//") ? `/.${path}` : path
}

/**
 * An address that a machine gives of itself, as its client must be told it (ProxyPassReverse does the same): its path
 * on the host that the client used. Relative addresses, and those of other hosts, are left alone.
 */
export const rewriteAddress = ({ machineHost, prefix }: Addressing, address: string): string => {
  if (/^\/(?!\/)/.test(address)) return placed(prefix, address)
  const [, authority, rest = ""] = absolute.exec(address) ?? []
  if (authority?.toLowerCase() !== machineHost) return address
  return placed(prefix, rest.startsWith("/") ? rest : `/${rest}`)
}

/** The same for the legacy transport's `endpoint`; a machine that knows its clients' host may lack the prefix only. */
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
