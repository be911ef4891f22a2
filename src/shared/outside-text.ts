export { lineOf } from "#src/format/markdown-text.ts"

/** Control characters except tab and newline: NUL can't be stored, and the others control a reader's terminal. */
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

const replacement = "\ufffd"
const defaultMax = 2_000

/** Text that PostgreSQL can store: without NUL and lone surrogates (Unicode 3.9, D91), at most `max` code units. */
export const storableText = (text: string, max: number) =>
  text.slice(0, max).toWellFormed().replaceAll("\u0000", replacement)

/**
 * Text from a machine, a registry or a client, made fit to be quoted in a record or a log: storable, truncated, and
 * without control characters.
 */
export const quotable = (text: string, max = defaultMax) =>
  storableText(text.length <= max ? text : `${text.slice(0, max - 1)}…`, max).replace(control, replacement)

/** A log line that its content can't split in two or disguise. */
export const withoutControls = (text: string) => text.replace(control, replacement)
