/** Characters that nobody sees, or that turn text around: control, bidi (UAX #9), zero-width, tags, private use. */
const unseen = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu

/** Somebody's text on one line, without what nobody sees. */
export const lineOf = (text: string, most: number): string => {
  // Cut first: a megabyte that stands for one line would be read for seconds.
  const near = text.trimStart().slice(0, 16 * most + 1_000)
  const line = near.toWellFormed().replace(/[\s\u0085\u2028\u2029]+/g, " ").replace(unseen, "").trim()
  const letters = [...line]
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : line
}

/** What readers of GitHub's Markdown make a link of without brackets (GFM 0.29, Autolinks): addresses, and e-mail. */
const linkLike = /:\/\/|www\.|mailto:|xmpp:|[^@]@[^@]/i

/** In code nothing is a link. An escape would not do: some readers look for addresses after they undid escapes. */
const wordOf = (word: string) =>
  linkLike.test(word)
    ? word.replaceAll("`", "'").replace(/^(.+?)([.,;:!?…]*)$/u, "`$1`$2")
    : word.replace(/[\\`*_[\]<>&~]/g, "\\$&")

/** The same in Markdown, as text: no link, heading, comment or list comes of it (CommonMark 0.31 §2.4). */
export const markdownOf = (text: string, most: number): string =>
  lineOf(text, most).split(" ").map(wordOf).join(" ")
    .replace(/^(?:#+(?=\s|$)|[+-](?=[\s+-]|$)|=|\d+(?=[.)]))/, "\\$&")
    .replace(/^\\(\d+)/, "$1\\")
