/**
 * The URL that a text is, or undefined. `base` resolves a relative one (WHATWG URL).
 *
 * Not `URL.canParse`: on Node.js 20, once V8 has optimised its caller, it reads a text with accents as broken UTF-8 and
 * answers false.
 */
export const parseUrl = (text: string, base?: string | URL): URL | undefined => {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
