/**
 * Patterns that must never reach a log: our keys and session tokens, JWTs (RFC 7519), tokens after `Bearer` (RFC 6750),
 * passwords in URLs (RFC 3986 §3.2.1), keys and webhook secrets of the payment processor.
 */
const secrets: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(svc_live_|svc_test_|svc_sess_|hub_live_)[\w-]+/g, "$1…"],
  [/\b((?:sk|rk)_(?:live|test)_|whsec_)\w+/g, "$1…"],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, "(JWT)"],
  [/\b(bearer\s+)[\w\-.~+/]+=*/gi, "$1…"],
  [/(:\/\/[^\s:/@]*:)[^\s@/]+@/g, "$1…@"]
]

/** Masks every secret of a known shape. */
export const redact = (text: string) => secrets.reduce((masked, [shape, mask]) => masked.replace(shape, mask), text)
