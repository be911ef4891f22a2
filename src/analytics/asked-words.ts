/** Characters that nobody sees (Unicode general categories C and separators other than a space). */
const unseen = /[\p{C}\p{Zl}\p{Zp}]/gu
/** An e-mail address, or half of one. */
const mail = /\S*\s?@\s?\S*/gu
const url = /\S*(?::\/\/|www\.)\S*/gu
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
    .replace(unseen, "").replace(mail, " ").replace(url, " ").replace(longNumber, " ")
    .split(" ").filter((word) => word !== "" && word.length <= longestWord).slice(0, mostWords).join(" ")
  return [...words].slice(0, most).join("").trimEnd()
}
