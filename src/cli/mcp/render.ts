import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js"

/**
 * Removes control characters but tab and newline, and those that turn the direction of what follows (Unicode UAX #9, 2):
 * text of an untrusted server must neither control the terminal nor look like another.
 */
export const printable = (text: string): string =>
  text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (c) => "\t\n".includes(c) ? c : "")

/** Somebody's words whose further lines are indented, so that none looks like a line of the command's own. */
export const quoted = (text: string) => text.trimEnd().replace(/\n/g, "\n  ")

/** Printable text without line breaks. */
export const oneLine = (text: string) => printable(text).replace(/\s+/g, " ").trim()

const truncate = (text: string, width: number) =>
  text.length <= width ? text : `${text.slice(0, width - 1).toWellFormed()}…`

const gap = "  "
const narrowest = 8

/** Takes from the widest columns first until a row fits, and leaves each what a word needs. */
const fitted = (widths: ReadonlyArray<number>, room: number) => {
  const fit = [...widths]
  for (let over = fit.reduce((sum, one) => sum + one, (fit.length - 1) * gap.length) - room; over > 0; over--) {
    const widest = Math.max(...fit)
    if (widest <= narrowest) break
    fit[fit.lastIndexOf(widest)] = widest - 1
  }
  return fit
}

/** Columns as wide as their widest cell, two spaces apart; cut where a row is wider than `room`. */
export const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>,
  room = Infinity
): string => {
  const widths = fitted(
    head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0))),
    room
  )
  const shown = (cell: string, column: number) => truncate(cell, widths[column] ?? 0).padEnd(widths[column] ?? 0)
  return [head, ...rows].map((row) => row.map(shown).join(gap).trimEnd()).join("\n")
}

/** A list for people: cut to their terminal, and whole in a pipe. */
export const listing = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  table(head, rows, process.stdout.isTTY === true && process.stdout.columns > 0 ? process.stdout.columns : Infinity)

const firstSentence = (text: string) => /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text

/** One tool per line: name, arguments (optional ones in brackets), the first sentence of its description. */
export const renderTools = (tools: ReadonlyArray<Tool>): string => {
  const rows = tools.map(({ description, inputSchema, name, title }) => {
    const required = new Set(inputSchema.required ?? [])
    const names = Object.keys(inputSchema.properties ?? {}).map((key) => required.has(key) ? key : `[${key}]`)
    const about = firstSentence(oneLine(description ?? title ?? ""))
    return [oneLine(name), truncate(oneLine(names.join(" ")), 60), truncate(about, 100)]
  })
  return tools.length === 0 ? "The server has no tools." : listing(["TOOL", "ARGUMENTS", "WHAT IT DOES"], rows)
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isScalar = (value: unknown) => typeof value !== "object" || value === null

/** Lists of scalars, and objects without lists of objects in them, fit in a cell. */
const isCell = (value: unknown): boolean =>
  isScalar(value) ||
  (Array.isArray(value) ? value.every(isScalar) : isRecord(value) && Object.values(value).every(isCell))

const cell = (value: unknown): string =>
  value === null || value === undefined
    ? "-"
    : Array.isArray(value)
    ? value.map(cell).join(", ")
    : isRecord(value)
    ? Object.entries(value).map(([key, inner]) => `${key}: ${cell(inner)}`).join("; ")
    : oneLine(String(value))

const widest = 64

/**
 * Nothing is cut: there is no other way to read it. One column of long texts, such as messages, comes last; rows with
 * several are outlines in place of a table.
 */
const rowsOf = (rows: ReadonlyArray<Record<string, unknown>>): string => {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const long = columns.filter((column) => rows.some((row) => cell(row[column]).length > widest))
  if (long.length > 1) return rows.map((row) => outline(row)).join("\n\n")
  const ordered = [...columns.filter((column) => !long.includes(column)), ...long]
  return table(ordered.map(oneLine), rows.map((row) => ordered.map((column) => cell(row[column]))))
}

const indent = (text: string) => text.split("\n").map((line) => line === "" ? line : `  ${line}`).join("\n")

const isSeveralLines = (value: unknown): value is string => typeof value === "string" && value.trim().includes("\n")

/**
 * JSON for people: lists of flat objects as tables, the rest as indented `name: value` lines. A text keeps its lines,
 * indented too, so that none looks like another name.
 */
export const outline = (value: unknown, depth = 12): string => {
  if (isScalar(value) || depth === 0) return isScalar(value) ? cell(value) : printable(JSON.stringify(value))
  if (Array.isArray(value)) {
    if (value.length === 0) return "(none)"
    if (value.every(isScalar)) return value.map(cell).join(", ")
    return value.every((row) => isRecord(row) && isCell(row))
      ? rowsOf(value)
      : value.map((item) => outline(item, depth - 1)).join("\n\n")
  }
  return Object.entries(value as object).map(([key, inner]) => {
    if (isSeveralLines(inner)) return `${oneLine(key)}:\n${indent(printable(inner.trimEnd()))}`
    const empty = Array.isArray(inner) && inner.length === 0
    return isScalar(inner) || empty || (Array.isArray(inner) && inner.every(isScalar))
      ? `${oneLine(key)}: ${outline(inner, depth - 1)}`
      : `${oneLine(key)}:\n${indent(outline(inner, depth - 1))}`
  }).join("\n")
}

/** A result for people: the structured content, of which the text may be a summary; else the content blocks. */
export const renderResult = ({ content, structuredContent }: CallToolResult): string => {
  if (structuredContent !== undefined) return outline(structuredContent)
  const blocks = content.map((block) => {
    if (block.type === "text") return printable(block.text)
    if (block.type === "resource_link") return `[resource ${oneLine(block.uri)}]`
    if (block.type !== "resource") return `[${block.type} ${oneLine(block.mimeType)}]`
    return "text" in block.resource ? printable(block.resource.text) : `[resource ${oneLine(block.resource.uri)}]`
  })
  return blocks.join("\n\n")
}
