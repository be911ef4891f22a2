/**
 * In the path form a machine's answers come from the platform's own origin. What a browser applies to all of the origin,
 * and not to this one answer, is the platform's to say (docs/decisions/shared-origin.md).
 */
const originHeaders = new Set([
  // How the origin is connected to, for as long as it likes (RFC 6797, RFC 7469, RFC 9163, RFC 7838).
  "strict-transport-security",
  "public-key-pins",
  "public-key-pins-report-only",
  "expect-ct",
  "alt-svc",
  // Who is told of what a visitor's browser meets there (Reporting API, Network Error Logging).
  "nel",
  "report-to",
  "reporting-endpoints",
  // What runs in its pages, and beside them.
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
  // What browsers send it from then on (Client Hints, compression dictionaries), and believe of its sign-in (FedCM).
  "accept-ch",
  "accept-ch-lifetime",
  "critical-ch",
  "use-as-dictionary",
  "set-login",
  // Ours, below.
  "x-content-type-options"
])

/** Types that no browser takes for a document with scripts. One value: of several, browsers take the last. */
const inert =
  /^(application\/([\w.-]+\+)?(json|octet-stream)|text\/(event-stream|plain|css|csv|markdown|javascript)|image\/(png|jpeg|gif|webp|avif)|(audio|video|font)\/[\w.+-]+)\s*(;[^,]*)?$/i

/** Schemes for which no browser asks for a password in the platform's name. */
const silent = new Set(["bearer", "dpop"])

/** A quote that does not end hides what follows it. */
const quotesEnd = /^(?:[^"]|"(?:[^"\\]|\\.)*")*$/
const parts = /(?:[^,"]|"(?:[^"\\]|\\.)*")+/g
const parameter = /^[\w!#$%&'*+.^`|~-]+\s*=\s*[^\s=]/

/** The challenges of a `WWW-Authenticate` (RFC 9110 §11.6.1) that only programs answer; undefined: none of them. */
export const bearerChallenges = (value: string): string | undefined => {
  if (!quotesEnd.test(value)) return undefined
  let keeps = false
  const kept = (value.match(parts) ?? []).map((part) => part.trim()).filter((part) => {
    if (!parameter.test(part)) keeps = silent.has(part.split(/\s/, 1)[0]!.toLowerCase())
    return keeps
  })
  return kept.length === 0 ? undefined : kept.join(", ")
}

/** Goes through the headers of one answer: each of them first, then what is to be added. */
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
    /** A policy of the machine's own can only add to this one: browsers enforce each (CSP 3, §8.1). */
    added: (): ReadonlyArray<string> => [
      ...(types > 0 && allInert ? [] : ["Content-Security-Policy", "sandbox"]),
      "X-Content-Type-Options",
      "nosniff"
    ]
  }
}
