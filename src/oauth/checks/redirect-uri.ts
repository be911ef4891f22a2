import { parseUrl } from "#src/format/parse-url.ts"

/**
 * Where a redirect leads: a web page, a program on the user's own machine, or an app with a scheme of its own (RFC 8252
 * §7). Only a web page can't be impersonated, so only it may be approved without asking.
 */
export type RedirectKind = "web" | "loopback" | "private-use"

/** RFC 8252 §7.3, and `localhost`, which real clients register. */
const loopbackHosts = new Set(["localhost", "127.0.0.1", "[::1]"])
/** All names of the user's own machine (RFC 6761 §6.3, RFC 1122 §3.2.1.3): with https any may be registered. */
const thisMachine = /^(?:(?:.+\.)?localhost\.?|127\.\d+\.\d+\.\d+|\[::1\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]+\])$/

/** RFC 3986 §2 without `#`: no blank, backslash or control character, which parsers read differently. */
const uriCharacters = /^[A-Za-z0-9\-._~:/?[\]@!$&'()*+,;=%]+$/
const longest = 2048

/**
 * Schemes that a browser or an operating system handles itself: no app may register one. Others are allowed
 * (reverse-domain ones, and the plain names that editors use against RFC 8252 §7.1's advice).
 */
const reservedSchemes = new Set(
  ("about acap afp android-app app blob browser callto cap chrome chrome-devtools chrome-extension chrome-search " +
    "chrome-untrusted cid content data devtools dict dns edge facetime fax feed file filesystem finger fish ftp ftps " +
    "geo git gopher help hcp http icap imap imaps intent ipp irc ircs jar javascript jdbc ldap ldaps livescript " +
    "magnet mailto maps market mhtml mid mms mocha moz-extension moz-icon news nfs nntp opaquelocktoken pop pres " +
    "resource rtsp safari-extension sftp shell shortcuts sip sips sms smsto smb ssh steam tel telnet tftp urn " +
    "vbscript view-source wais webcal wpad ws wss wyciwyg x-apple.systempreferences xmpp").split(" ")
)
/** Windows' own handlers (`ms-msdt:`, `search-ms:`, `microsoft-edge:`), which have been used for attacks. */
const windowsSchemes = /^(ms-|microsoft|windows|search-ms|search$)/

export const redirectKind = (uri: string): RedirectKind => {
  const { hostname, protocol } = new URL(uri)
  if (protocol !== "https:" && protocol !== "http:") return "private-use"
  return thisMachine.test(hostname) ? "loopback" : "web"
}

/** Why a URI can't be registered as a redirect, or undefined when it can (RFC 6749 §3.1.2, OAuth 2.1 §2.3). */
export const redirectProblem = (uri: string): string | undefined => {
  if (uri.length > longest) return `must be at most ${longest} characters`
  if (uri.includes("#")) return "must not have a fragment"
  const url = uriCharacters.test(uri) ? parseUrl(uri) : undefined
  if (url === undefined) return "must be an absolute URI"
  const { hostname, password, protocol, username } = url
  const scheme = protocol.slice(0, -1)
  if (username !== "" || password !== "") return "must not carry a user name or password"
  if (scheme === "http" || scheme === "https") {
    // A URL parser repairs `https:/host`; a string comparison does not.
    if (!/^https?:\/\/[^/?]/i.test(uri) || hostname.includes("*")) return "must name its host"
    return scheme === "https" || loopbackHosts.has(hostname) ? undefined : "must be https, or http on this machine"
  }
  return reservedSchemes.has(scheme) || windowsSchemes.test(scheme) ? `must not use the scheme ${scheme}` : undefined
}

const loopback = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::(\d{1,5}))?((?:[/?].*)?)$/

/** The redirect without its port, if it leads to the user's own machine. */
const portless = (uri: string) => {
  const [, origin, port = "80", rest] = loopback.exec(uri) ?? []
  return origin === undefined || rest === undefined || Number(port) < 1 || Number(port) > 65535
    ? undefined
    : origin + rest
}

/**
 * Whether a redirect is registered: an equal string (RFC 6749 §3.1.2.3), except for the port of a loopback redirect,
 * which a program chooses when it starts (RFC 8252 §7.3).
 */
export const matchesRedirect = (registered: ReadonlyArray<string>, requested: string): boolean => {
  if (registered.includes(requested)) return true
  const withoutPort = portless(requested)
  return withoutPort !== undefined && redirectProblem(requested) === undefined &&
    registered.some((uri) => portless(uri) === withoutPort)
}
