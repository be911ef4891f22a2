import { encoder } from "../support/encoder.ts"

export type Table = ReadonlyArray<ReadonlyArray<string>>

/** How a program writes a table to a file. */
export interface Writing {
  readonly delimiter?: "," | ";" | "\t" | "|"
  readonly end?: "\n" | "\r\n"
  /** Quotes around each cell, or only where the delimiter, a quote or a line break needs them. */
  readonly quotes?: "all"
  readonly encoding?: string
  /** Before all else: a byte order mark, `sep=;`. */
  readonly before?: string
}

const cellOf = (cell: string, delimiter: string, all: boolean) =>
  all || cell.includes(delimiter) || /["\r\n]/.test(cell) ? `"${cell.replaceAll("\"", "\"\"")}"` : cell

const bytesOf = (text: string, encoding: string) => {
  if (encoding === "utf-8") return Buffer.from(text)
  return encoding === "utf-16le" ? Buffer.from(`\ufeff${text}`, "utf16le") : encoder(encoding)(text)
}

export const write = (
  table: Table,
  { before = "", delimiter = ",", encoding = "utf-8", end = "\n", quotes }: Writing = {}
) => {
  const lines = table.map((row) => row.map((cell) => cellOf(cell, delimiter, quotes === "all")).join(delimiter) + end)
  return bytesOf(before + lines.join(""), encoding)
}
