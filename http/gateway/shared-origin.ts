/**
 * In the path form a machine's responses come from the platform's own origin. Only the platform may send headers that a
 * browser applies to the whole origin, and not to this one response (docs/decisions/shared-origin.md).
 */
const originHeaders = new Set([
  // How browsers connect to the origin, for a long time (RFC 6797, RFC 7469, RFC 9163, RFC 7838).
  "strict-transport-security",
  "public-key-pins",
  "public-key-pins-report-only",
  "expect-ct",
  "alt-svc",
  // Where browsers send reports (Reporting API, Network Error Logging).
  "nel",
  "report-to",
  "reporting-endpoints",
  // What runs in its pages, and in the background.
  "service-worker-allowed",
  "origin-agent-cluster",
  "origin-trial",
  "sec-session-registration",
  "sec-shared-storage-write",
  "observe-browsing-topics",
  "attribution-reporting-register-source",
  "attribution-reporting-register-trigger",
  "activate-storage-access",
  "critical-origin-trial",
  // What browsers send it later (Client Hints, compression dictionaries), and its sign-in status (FedCM).
  "accept-ch",
  "accept-ch-lifetime",
  "critical-ch",
  "use-as-dictionary",
  "set-login",
  // Set below.
  "x-content-type-options"
])

/** Types that no browser treats as a document with scripts. One value only: of several, browsers use the last. */
const inert =
  /^(application\/([\w.-]+\+)?(json|octet-stream)|text\/(event-stream|plain|css|csv|markdown|javascript)|image\/(png|jpeg|gif|webp|avif)|(audio|video|font)\/[\w.+-]+)\s*(;[^,]*)?$/i

/** Schemes for which browsers don't show a password prompt, which would name the platform. */
const withoutPrompt = new Set(["bearer", "dpop"])

/** An unterminated quote would hide what follows it. */
const quotesEnd = /^(?:[^"]|"(?:[^"\\]|\\.)*")*$/
const parts = /(?:[^,"]|"(?:[^"\\]|\\.)*")+/g
const parameter = /^[\w!#$%&'*+.^`|~-]+\s*=\s*[^\s=]/

/** The challenges of a `WWW-Authenticate` (RFC 9110 §11.6.1) without a browser prompt; undefined: none. */
export const bearerChallenges = (value: string): string | undefined => {
  if (!quotesEnd.test(value)) return undefined
  let isKept = false
  const kept = (value.match(parts) ?? []).map((part) => part.trim()).filter((part) => {
    if (!parameter.test(part)) isKept = withoutPrompt.has(part.split(/\s/, 1)[0]!.toLowerCase())
    return isKept
  })
  return kept.length === 0 ? undefined : kept.join(", ")
}

/** Filters the headers of one response: call `pass` for each, then `added`. */
export const sharedOrigin = () => {
  let types = 0
  let allInert = true
  return {
    pass: (name: string, value: string): string | undefined => {
      if (name === "content-type") {
        types++
        allInert &&= inert.test(value)
      }
      if (originHeaders.has(name)) return undefined
      return name === "www-authenticate" ? bearerChallenges(value) : value
    },
    /** A machine's own policy can only add restrictions: browsers enforce every policy (CSP 3, §8.1). */
    added: (): ReadonlyArray<string> => [
      ...(types > 0 && allInert ? [] : ["Content-Security-Policy", "sandbox"]),
      "X-Content-Type-Options",
      "nosniff"
    ]
  }
}
