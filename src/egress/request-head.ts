/** The head of an HTTP/1 request, as far as this needs it. */
export interface RequestHead {
  readonly method: string
  readonly target: string
  /** `1.0` or `1.1`. */
  readonly version: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** Bytes of the head, its empty line included. */
  readonly length: number
}

const longestHead = 16_384
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** The head (RFC 9112 § 2 to 5), or what is wrong with it; undefined while more has to come. */
export const requestHead = (bytes: Buffer): RequestHead | { readonly problem: string } | undefined => {
  const end = bytes.indexOf("\r\n\r\n")
  if (end < 0 ? bytes.length > longestHead : end > longestHead) {
    return { problem: "the head of its request is too large" }
  }
  // The first byte of TLS or of another protocol: no head will come.
  if (bytes.length > 0 && !/[A-Za-z]/.test(String.fromCharCode(bytes[0]!))) return { problem: "it is not HTTP" }
  if (end < 0) return undefined
  const [line = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n")
  const [, method = "", target = "", version = ""] = /^(\S+) (\S+) HTTP\/(1\.[01])$/.exec(line) ?? []
  if (!token.test(method)) return { problem: "it is not HTTP/1.1" }
  const headers: Array<readonly [string, string]> = []
  for (const field of lines) {
    const at = field.indexOf(":")
    const [name, value] = [field.slice(0, at), field.slice(at + 1).trim()]
    if (at < 1 || !token.test(name) || /[\0\r\n]/.test(value)) {
      return { problem: "a header of its request is malformed" }
    }
    headers.push([name, value])
  }
  return { method, target, version, headers, length: end + 4 }
}

/** A host with a port, in the form of `Host` and of CONNECT; the port is optional. */
export const authority = (text: string): { readonly host: string; readonly port: number | undefined } | undefined => {
  const [, literal, name, port] = /^(?:\[([\da-f:.]+)\]|([^[\]:@/?#\s]+))(?::(\d{1,5}))?$/i.exec(text) ?? []
  const host = literal ?? name
  const number = port === undefined ? undefined : Number(port)
  if (host === undefined || number !== undefined && (number < 1 || number > 65_535)) return undefined
  return { host, port: number }
}

/** The one `Host` of a request. */
export const hostOf = ({ headers }: RequestHead): string | undefined => {
  const hosts = headers.filter(([name]) => name.toLowerCase() === "host")
  return hosts.length === 1 ? authority(hosts[0]![1])?.host : undefined
}

const hopByHop = /^(connection|keep-alive|proxy-.*|te|upgrade-insecure-requests)$/i

/**
 * A request in absolute form (RFC 9112 § 3.2.2) as its origin server takes it; one a connection, since what follows
 * could be for another host. Undefined when its target is no plain http URL.
 */
export const forOrigin = (
  head: RequestHead
): { readonly host: string; readonly port: number; readonly bytes: Buffer } | undefined => {
  const [, place = "", path = ""] = /^http:\/\/([^/?#]+)([^#]*)$/i.exec(head.target) ?? []
  const at = authority(place)
  if (at === undefined) return undefined
  const upgrade = head.headers.some(([name]) => name.toLowerCase() === "upgrade")
  const lines = [
    `${head.method} ${path.startsWith("/") ? path : `/${path}`} HTTP/1.1`,
    `Host: ${place}`,
    `Connection: ${upgrade ? "upgrade" : "close"}`,
    ...head.headers.filter(([name]) => !hopByHop.test(name) && name.toLowerCase() !== "host")
      .map(([name, value]) => `${name}: ${value}`)
  ]
  return { host: at.host, port: at.port ?? 80, bytes: Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1") }
}
