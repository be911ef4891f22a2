import { lineOf } from "#src/shared/outside-text.ts"
import { documentLimits, type DocumentTool } from "./CapabilityDoc.ts"
import { type DocumentFields, tooManyTools } from "./document-fields.ts"

interface Heading {
  readonly level: number
  readonly text: string
}

/** An ATX heading (CommonMark 0.31 §4.2). */
const headingOf = (line: string): Heading | undefined => {
  const [, marks, text = ""] = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/.exec(line) ?? []
  return marks === undefined
    ? undefined
    : { level: marks.length, text: lineOf(text.replace(/[ \t]#+[ \t]*$/, ""), 200) }
}

/** A list's item, and how far it is indented: an item of a list in a list further than the one above it. */
const bulletOf = (line: string) => {
  const [, indent = "", text] = /^( {0,3})[-*+][ \t]+(.*)$/.exec(line) ?? []
  return text === undefined ? undefined : { indent: indent.length, text: text.trim() }
}

/** A name in marks: `name`, **name**, [name](url); and what follows it. */
const markedName = (text: string): readonly [string, string] | undefined => {
  for (const [open, close] of [["**`", "`**"], ["`", "`"], ["**", "**"], ["__", "__"]] as const) {
    const end = text.startsWith(open) ? text.indexOf(close, open.length) : -1
    if (end > 0) return [text.slice(open.length, end), text.slice(end + close.length)]
  }
  const [link, name = ""] = /^\[([^\]]{1,300})\](?:\([^)]{0,2000}\))?/.exec(text) ?? []
  return link === undefined ? undefined : [name, text.slice(link.length)]
}

/** `name: what it does`, `name - what it does`, `name (…)`, or a name alone. */
const splitName = (text: string): readonly [string, string] => {
  const at = text.search(/:(?:\s|$)|\s[-–—]\s|\s\(/)
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at)]
}

const toolOfBullet = (bullet: string): ReadonlyArray<DocumentTool> => {
  const text = bullet.slice(0, 4 * documentLimits.description)
  const [name, rest] = markedName(text) ?? splitName(text)
  const known = lineOf(name.replace(/:\s*$/, ""), documentLimits.toolName)
  const description = lineOf(rest.replace(/^[\s:*_–—-]+/, ""), documentLimits.description)
  return known === "" ? [] : [{ name: known, description }]
}

/** The lines of a text that are not inside fenced code (CommonMark 0.31 §4.5). */
function* linesOutsideCode(text: string) {
  let fence: string | undefined
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (fence === undefined) {
      if (mark === undefined) yield line
      else fence = mark
    } else if (mark?.startsWith(fence) === true && /^ {0,3}[`~]+[ \t]*$/.test(line)) fence = undefined
  }
}

const isProse = (line: string) => line.trim() !== "" && !/^\s*([-*+>|<]|\d+[.)]|={2,}|!?\[)/.test(line)

/** What Markdown says by itself: its first heading and paragraph, and the bullets below a heading "Tools". */
export const readMarkdown = (text: string): DocumentFields => {
  let title: string | undefined
  let level: number | undefined
  let indent = 0
  let isOver = false
  const paragraph: Array<string> = []
  const tools: Array<DocumentTool> = []
  for (const line of linesOutsideCode(text)) {
    const heading = headingOf(line)
    if (heading !== undefined) {
      isOver ||= paragraph.length > 0
      title ??= heading.text === "" ? undefined : heading.text
      if (level !== undefined && heading.level <= level) level = undefined
      if (/^tools:?$/i.test(heading.text)) level ??= heading.level
      indent = Infinity
      continue
    }
    const bullet = level === undefined ? undefined : bulletOf(line)
    if (bullet !== undefined && bullet.indent <= indent) {
      indent = bullet.indent
      tools.push(...toolOfBullet(bullet.text))
    }
    if (level === undefined && !isOver && isProse(line)) paragraph.push(line)
    else isOver ||= paragraph.length > 0
  }
  tooManyTools(tools.length)
  const description = lineOf(paragraph.join(" "), documentLimits.description)
  return { name: title, description: description === "" ? undefined : description, tools }
}
