/**
 * What can make a name look like another or like a part of the page: control and format characters (bidirectional
 * overrides, zero-width, tag characters), private and unassigned ones (Unicode TR 36 §3.4, TR 39 §3.1), and the
 * letters that look like nothing.
 */
const invisible =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\u115f\u1160\u3164\uffa0\u2800\u034f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu
/** Marks upon marks climb out of their line; no language needs more than a few. */
const manyMarks = /(\p{M}{3})\p{M}+/gu

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" })

const cut = (text: string, most: number) => {
  const first = Array.from(graphemes.segment(text.slice(0, most * 16)), ({ segment }) => segment)
  return first.length <= most && text.length <= most * 16 ? text : `${first.slice(0, most - 1).join("").trimEnd()}…`
}

/** A name that somebody else chose, fit to stand in a sentence of ours: one line, visible, of bounded length. */
export const shownName = (name: string, otherwise: string, most = 60) => {
  const clean = name.normalize("NFC").replace(/[\s\p{Z}]+/gu, " ").replace(invisible, "").replace(manyMarks, "$1")
    .replace(/ {2,}/g, " ").trim()
  return /[\p{L}\p{N}\p{S}\p{P}]/u.test(clean) ? cut(clean, most) : otherwise
}

/**
 * Where a URL leads: host and port as they travel, so that a name in another script is seen for what it is (its
 * punycode), or the scheme when it has no host that means anything.
 */
export const shownHost = (url: string) => {
  if (!URL.canParse(url)) return undefined
  const { host, protocol } = new URL(url)
  return /^https?:$/.test(protocol) ? host : protocol
}

/** The address of a resource of ours: a server may be told from another by its path alone. */
export const shownAddress = (url: string) =>
  URL.canParse(url) ? `${new URL(url).host}${new URL(url).pathname.replace(/\/$/, "")}` : url
