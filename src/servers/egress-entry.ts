import { isPublicAddress } from "#src/shared/private-addresses.ts"
import { isIP, isIPv6 } from "node:net"
import { domainToASCII } from "node:url"

/** One entry of an allow-list, taken apart. */
export interface EgressEntry {
  /** Lower case, punycode, no trailing dot; or an IP literal without brackets. */
  readonly host: string
  /** The host's subdomains of any depth, and not the host itself. */
  readonly subdomains: boolean
  /** Undefined: 443 and 80. */
  readonly port: number | undefined
}

/** Ports of an entry that names none. */
export const webPorts: ReadonlyArray<number> = [443, 80]

/**
 * Ports of `internet` for clients that look a name up by DNS: a name's local address can't listen on all there are. The
 * web's; SSH; mail handed in and fetched; SQL Server, MySQL, PostgreSQL and its pool, Redis, MongoDB; AMQP and MQTT over
 * TLS. Not those on which a machine's own programs like to listen, nor 25, which sends spam.
 */
export const internetPorts: ReadonlyArray<number> = [
  ...webPorts,
  ...[22, 465, 587, 993, 995, 1433, 3306, 5432, 5671, 6379, 6543, 8883, 27_017]
]

const label = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/
/** A last label by which other programs read a name as an address (WHATWG URL, "ends in a number"). */
const number = /^(\d+|0x[\da-f]*)$/

/** RFC 1123 § 2.1, with the underscore that names in use have; at least two labels. */
const isFullName = (name: string) => {
  const labels = name.split(".")
  return name.length <= 253 && labels.length > 1 && labels.every((each) => label.test(each)) &&
    !number.test(labels.at(-1) ?? "")
}

/**
 * A name as policies compare it: lower case, punycode (RFC 5891), without the root's dot. Undefined for what is no
 * full host name: one label means whatever the host's own search list says, and is never looked up.
 */
export const canonicalName = (text: string): string | undefined => {
  const plain = text.replace(/\.$/, "").toLowerCase()
  const name = /^[\0-\x7f]*$/.test(plain) ? plain : domainToASCII(plain)
  return isFullName(name) ? name : undefined
}

const problemOf = (text: string): string | undefined => {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return "must be a host without a scheme, such as api.example.com"
  if (/[/?#]/.test(text)) return "must be a host without a path, such as api.example.com"
  if (/[@\s]/.test(text)) return "must be a host, such as api.example.com, *.example.com or db.example.com:5432"
  return /^\*?(:\d+)?$/.test(text) ? "must name a host; the setting \"internet\" allows them all" : undefined
}

/** The entry, or what is wrong with it (completes "egress.allow.0 …"). */
export const parseEntry = (text: string): EgressEntry | string => {
  const problem = problemOf(text)
  if (problem !== undefined) return problem
  const bare = isIPv6(text)
  const [, head = "", digits] = bare ? [text, text] : /^(.*?)(?::(\d*))?$/s.exec(text) ?? []
  const port = digits === undefined ? undefined : Number(digits)
  if (port !== undefined && !(digits !== "" && port >= 1 && port <= 65_535)) return "must have a port from 1 to 65535"
  const literal = head.replace(/^\[(.*)\]$/s, "$1")
  if (isIP(literal) > 0) {
    return isPublicAddress(literal)
      ? { host: literal.toLowerCase(), subdomains: false, port }
      : "must not be an address of a private, local or reserved range"
  }
  const subdomains = head.startsWith("*.")
  const host = canonicalName(subdomains ? head.slice(2) : head)
  // "*.com" has one label behind the star, and is a host's subdomains all the same.
  const top = subdomains ? canonicalName(`a.${head.slice(2)}`)?.slice(2) : undefined
  if (host === undefined && top === undefined) {
    return head.includes("*")
      ? "must have its * as the whole first label, as in *.example.com"
      : "must be a full host name, such as api.example.com"
  }
  return { host: host ?? top!, subdomains, port }
}

/** The entry as it is stored and shown. */
export const entryText = ({ host, port, subdomains }: EgressEntry) =>
  `${subdomains ? "*." : ""}${isIPv6(host) && port !== undefined ? `[${host}]` : host}${
    port === undefined ? "" : `:${port}`
  }`

const names = ({ host, subdomains }: EgressEntry, name: string) =>
  subdomains ? name.endsWith(`.${host}`) : name === host

/** The ports that entries allow for a canonical name or an address. */
export const allowedPorts = (entries: ReadonlyArray<EgressEntry>, name: string): ReadonlyArray<number> => [
  ...new Set(entries.filter((entry) => names(entry, name)).flatMap(({ port }) => port ?? webPorts))
]
