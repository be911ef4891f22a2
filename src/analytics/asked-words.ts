/** Characters that nobody sees (Unicode general categories C and separators other than a space). */
const unseen = /[\p{C}\p{Zl}\p{Zp}]/gu
/** An e-mail address, or half of one. */
const mail = /\S*\s?@\s?\S*/gu
/** `。` is a dot for browsers, too (UTS #46). */
const label = String.raw`[\p{L}\p{M}\p{N}-][.。]`
const topLabel = String.raw`(?:\p{L}[\p{L}\p{M}]+|xn--[a-z\d-]+)[.。]?`
const ipv4 = String.raw`\d(?:\.\d{1,3}){3}`
/** A word that is a link: `scheme:/…`, `//…`, `www.…`, and a host's name or address with a port, path or query. */
const link = new RegExp(
  String.raw`:[/\\]|^[/\\]{2}|www[.。]|^\W?(?:https?|ftp):|(?:${label}${topLabel}|${ipv4})(?:[/\\]|:\d|[?#].)`,
  "u"
)
/** Six digits or more, however they are set apart: phone, card and account numbers. A zip code has five. */
const longNumber = /[+(]*\p{Nd}(?:[\s().\-/]*\p{Nd}){5,}/gu

const mostWords = 8
/** Longer words are keys and the like. */
const longestWord = 30

/**
 * What somebody searched for, fit to be kept: in small letters, at most 8 words of at most 30 characters each, `most`
 * characters in all, without e-mail addresses, links and long numbers. Empty when nothing is left. See
 * docs/decisions/unmet-searches.md.
 */
export const askedWords = (text: string, most: number): string => {
  const words = text.toWellFormed().slice(0, 1_000).normalize("NFKC").toLowerCase().replace(/\s/gu, " ")
    .replace(unseen, "").replace(mail, " ")
    .split(" ").filter((word) => !link.test(word)).join(" ").replace(longNumber, " ")
    .split(" ").filter((word) => word !== "" && word.length <= longestWord).slice(0, mostWords).join(" ")
  return [...words].slice(0, most).join("").trimEnd()
}
