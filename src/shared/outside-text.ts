/** A tab and a new line may stay; NUL can't be stored, and the rest moves the cursor of whoever reads it. */
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

const replacement = "\ufffd"
const usual = 2_000

/** Text as PostgreSQL stores it: no NUL, no half of a surrogate pair (Unicode 3.9, D91), and at most so many characters. */
export const storableText = (text: string, most: number) =>
  text.slice(0, most).toWellFormed().replaceAll("\u0000", replacement)

/**
 * What a machine, a registry or a client said, as it may be quoted in a record or a log: storable, of a bounded length,
 * and without control characters.
 */
export const quotable = (text: string, most = usual) =>
  storableText(text.length <= most ? text : `${text.slice(0, most - 1)}…`, most).replace(control, replacement)

/** A line of a log, which no part of it can make look like two, or like something else. */
export const withoutControls = (text: string) => text.replace(control, replacement)
