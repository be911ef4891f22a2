import { type IncomingHttpHeaders } from "node:http"

/** A metadata document is fetched again after a day at most. */
export const longestLifetime = 24 * 60 * 60 * 1000

export interface Freshness {
  /** How long the response is fresh, in milliseconds; undefined when it does not say. */
  readonly lifetime: number | undefined
  /** Whether its validator may be stored. */
  readonly stored: boolean
}

const clamp = (seconds: number) => Math.min(longestLifetime, Math.max(0, seconds * 1000))

const directivesOf = (header: string) => {
  const directives = new Map<string, string>()
  for (const [, name, quoted, plain] of header.matchAll(/([\w-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,"]*)))?/g)) {
    // Of duplicate directives the first counts (RFC 9111 §4.2.1).
    if (!directives.has(name!.toLowerCase())) directives.set(name!.toLowerCase(), quoted ?? plain ?? "")
  }
  return directives
}

/** RFC 9111 §1.2.2. An invalid value counts as stale (§4.2.1). */
const secondsOf = (text: string) => /^\d+$/.test(text) ? Number(text) : 0

/** How long a response stays fresh in a shared cache (RFC 9111 §4.2). `now` is in Unix milliseconds. */
export const freshnessOf = (headers: IncomingHttpHeaders, now: number): Freshness => {
  const directives = directivesOf(headers["cache-control"] ?? "")
  const age = secondsOf(headers.age ?? "0")
  if (directives.has("no-store")) return { lifetime: 0, stored: false }
  if (directives.has("no-cache") || directives.has("private")) return { lifetime: 0, stored: true }
  const maxAge = directives.get("s-maxage") ?? directives.get("max-age")
  if (maxAge !== undefined) return { lifetime: clamp(secondsOf(maxAge) - age), stored: true }
  if (headers.expires === undefined) return { lifetime: undefined, stored: true }
  const expires = Date.parse(headers.expires)
  const date = Date.parse(headers.date ?? "")
  const seconds = (expires - (Number.isNaN(date) ? now : date)) / 1000 - age
  return { lifetime: Number.isNaN(seconds) ? 0 : clamp(seconds), stored: true }
}
