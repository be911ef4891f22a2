import { timesSent } from "#http/connection/times-sent.ts"
import { type Settings } from "#src/config/Settings.ts"
import { locator, type Target } from "#src/servers/locate.ts"
import { type IncomingMessage } from "node:http"

/** For a hosted server. */
export interface TargetMatch {
  readonly _tag: "Target"
  readonly target: Target
}

/** A request that the gateway answers: for a hosted server, or with an ambiguous host. */
export type Match = TargetMatch | {
  readonly _tag: "Ambiguous"
  readonly reason: string
}

const ambiguous = (reason: string): Match => ({ _tag: "Ambiguous", reason })

/** Of a client's requests most have the same host and path. */
const [mostKnown, longestKnown] = [1_000, 200]

/** Remembers what the last hosts and paths were for. */
const remembering = (locate: (host: string, url: string) => Target | undefined) => {
  const known = new Map<string, Target>()
  return (host: string, url: string) => {
    const key = `${host} ${url}`
    const found = known.get(key)
    if (found !== undefined) return found
    const target = locate(host, url)
    if (target === undefined || key.length > longestKnown) return target
    if (known.size >= mostKnown) known.clear()
    known.set(key, target)
    return target
  }
}

/**
 * The hosted server that a request is for; undefined: it is for the platform itself. Two `Host` headers, or an
 * absolute-form target with another host than `Host`, are always rejected (RFC 9112 §3.2): Node would use the first, a
 * proxy in front perhaps the other.
 */
export const matcher = (settings: Settings) => {
  const locate = remembering(locator(settings))
  return (req: IncomingMessage): Match | undefined => {
    // RFC 9112 §3.2; HTTP/1.0 requires none.
    if (req.httpVersion !== "1.0" && timesSent(req, "host") === 0) return ambiguous("There is no Host header")
    if (timesSent(req, "host") > 1) return ambiguous("There is more than one Host header")
    const host = req.headers.host ?? ""
    let url = req.url ?? "/"
    if (!url.startsWith("/") && url !== "*") {
      const absolute = /^https?:\/\/([^/?#@]*)(.*)$/i.exec(url)
      if (absolute === null) return ambiguous("The request target is not a path")
      if (absolute[1]!.toLowerCase() !== host.toLowerCase()) {
        return ambiguous("The request target and the Host header name different hosts")
      }
      url = absolute[2]!.startsWith("/") ? absolute[2]! : `/${absolute[2]}`
    }
    const target = locate(host, url)
    return target === undefined ? undefined : { _tag: "Target", target }
  }
}
