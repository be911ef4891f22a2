import { isBlank } from "#src/format/blank.ts"
import { characters } from "#src/shared/text.ts"

/** Maximum lengths in characters, the same as in the business's own operations. */
export const longest = { name: 255, short: 50, prose: 5000, url: 2048 } as const

export interface Cleaned {
  readonly text: string
  /** Whether characters that can't be stored or shown were removed. */
  readonly changed: boolean
}

const finish = (source: string, text: string): Cleaned => {
  const wellFormed = text.toWellFormed()
  return {
    text: isBlank(wellFormed) ? "" : wellFormed.trim(),
    changed: wellFormed !== text || text.length < source.length
  }
}

/** Soft hyphens, zero-width spaces, word joiners and byte order marks: programs leave them, and nobody sees them. */
const unseen = /[\u00ad\u200b\u2060\ufeff]/g

/** One line of text: line breaks and tabs become spaces, other control characters and those that nobody sees are removed. */
export const cleanLine = (source: string): Cleaned =>
  finish(source, source.replace(/[\t\n\r]/g, " ").replace(/\p{Cc}/gu, "").replace(unseen, ""))

/** Text that may span lines. */
export const cleanProse = (source: string): Cleaned => finish(source, source.replace(/(?![\t\n\r])\p{Cc}/gu, ""))

/** Whether a cleaned text has more than `most` characters. */
export const tooLong = (text: string, most: number) => text.length > most && characters(text) > most

/** For a message or a sample: one line, at most 100 characters. */
export const excerpt = (text: string) => {
  const line = cleanLine(text.slice(0, 400)).text
  return line.length > 100 ? `${line.slice(0, 99).toWellFormed()}…` : line
}
