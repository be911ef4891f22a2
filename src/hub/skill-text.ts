import { lineOf } from "#src/shared/outside-text.ts"

/** A text on one line in Markdown, as text: no link, heading, code, comment or list comes of it (CommonMark 0.31 §2.4). */
export const markdownOf = (text: string, most: number): string =>
  lineOf(text, most).replace(/[\\`*_[\]<>&~]/g, "\\$&").replace(/^(?:[#+=-]|\d+(?=[.)]))/, "\\$&")
    .replace(/^\\(\d+)/, "$1\\")
