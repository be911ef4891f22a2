import { parseUrl } from "#src/format/parse-url.ts"

/**
 * Characters that can make a name look like another or like a part of the page: control and format characters
 * (bidirectional overrides, zero-width, tag characters), private and unassigned ones (Unicode TR 36 §3.4, TR 39 §3.1),
 * and invisible letters.
 */
const invisible =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\u115f\u1160\u3164\uffa0\u2800\u034f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu
/** Many stacked marks overflow their line; no language needs more than a few. */
const manyMarks = /(\p{M}{3})\p{M}+/gu

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

const truncate = (text: string, max: number) => {
  const segments = Array.from(graphemes.segment(text.slice(0, max * 16)), ({ segment }) => segment)
  return segments.length <= max && text.length <= max * 16 ? text : `${segments.slice(0, max - 1).join("").trimEnd()}…`
}

/** Makes a name from outside safe to show in our own sentence: one line, visible, of bounded length. */
export const shownName = (name: string, fallback: string, max = 60) => {
  const clean = name.normalize("NFC").replace(/[\s\p{Z}]+/gu, " ").replace(invisible, "").replace(manyMarks, "$1")
    .replace(/ {2,}/g, " ").trim()
  return /[\p{L}\p{N}\p{S}\p{P}]/u.test(clean) ? truncate(clean, max) : fallback
}

/**
 * Where a URL leads: host and port as sent, so that a name in another script appears as punycode; or the scheme, when
 * the URL has no meaningful host.
 */
export const shownHost = (url: string) => {
  const parsed = parseUrl(url)
  return parsed && (/^https?:$/.test(parsed.protocol) ? parsed.host : parsed.protocol)
}

/** The address of one of our resources, with its path, by which servers may differ. */
export const shownAddress = (url: string) => {
  const parsed = parseUrl(url)
  return parsed === undefined ? url : `${parsed.host}${parsed.pathname.replace(/\/$/, "")}`
}
