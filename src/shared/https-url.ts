/** What no URL has raw (RFC 3986 §2), and what would end an attribute or hide in a line where it is shown. */
const unfit = /[\s\p{Cc}\p{Cf}<>"\\]/u

/**
 * Why a text is no address on the web that we would pass on, or undefined when it is one. It is judged as it is written:
 * a parser mends much, and no two mend the same.
 */
export const httpsUrlProblem = (text: string): string | undefined => {
  if (!/^https:\/\/[^/?#]/.test(text) || !URL.canParse(text)) return "must be a URL that starts with https://"
  if (unfit.test(text)) return "must not contain blanks, control characters, backslashes or any of < > \""
  return /^https:\/\/[^/?#]*@/.test(text) ? "must not carry a user name or password" : undefined
}
