import { parseUrl } from "#src/format/parse-url.ts"

/** Characters that a URL can't contain (RFC 3986 §2), that end an HTML attribute, or that are invisible. */
const forbidden = /[\s\p{Cc}\p{Cf}<>"\\]/u

/**
 * Why a text is not a web address that we would pass on, or undefined when it is. The raw text is checked: parsers
 * repair much, each in its own way.
 */
export const httpsUrlProblem = (text: string): string | undefined => {
  if (!/^https:\/\/[^/?#]/.test(text) || parseUrl(text) === undefined) return "must be a URL that starts with https://"
  if (forbidden.test(text)) return "must not contain blanks, control characters, backslashes or any of < > \""
  return /^https:\/\/[^/?#]*@/.test(text) ? "must not carry a user name or password" : undefined
}
