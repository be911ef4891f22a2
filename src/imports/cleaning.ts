import { isBlank } from "#src/format/blank.ts"
import { characters } from "#src/shared/text.ts"

/** Longest texts, in characters, as the business's own operations have them. */
export const longest = { name: 255, short: 50, prose: 5000, url: 2048 } as const

export interface Cleaned {
  readonly text: string
  /** Whether something that can't be stored or shown was taken out. */
  readonly changed: boolean
}

const finish = (source: string, text: string): Cleaned => {
  const whole = text.toWellFormed()
  return { text: isBlank(whole) ? "" : whole.trim(), changed: whole !== text || text.length < source.length }
}

/** One line of text: line breaks and tabs are spaces, other control characters go. */
export const cleanLine = (source: string): Cleaned =>
  finish(source, source.replace(/[\t\n\r]/g, " ").replace(/\p{Cc}/gu, ""))

/** Text that may span lines. */
export const cleanProse = (source: string): Cleaned => finish(source, source.replace(/(?![\t\n\r])\p{Cc}/gu, ""))

/** Whether a cleaned text has more characters than it may. */
export const tooLong = (text: string, most: number) => text.length > most && characters(text) > most

/** For a message or a sample: one line, at most 100 characters. */
export const excerpt = (text: string) => {
  const line = cleanLine(text.slice(0, 400)).text
  return line.length > 100 ? `${line.slice(0, 99).toWellFormed()}…` : line
}
