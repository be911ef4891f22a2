import { CsvError, parse } from "csv-parse/sync"

export type Delimiter = "," | ";" | "\t" | "|"

/** A row with its number in a spreadsheet, from 1; broken when its cells can't be separated. */
export type Row = WholeRow | { readonly number: number; readonly broken: string }

export interface WholeRow {
  readonly number: number
  readonly cells: ReadonlyArray<string>
}

/** Bytes parsed at once, and the maximum of a row, so that an unterminated quote takes no more. */
const pieceBytes = 64 * 1024
const pieceRows = 250
/** After this many broken rows the rest is not parsed, because each costs the parsing of a piece. */
const mostBroken = 100
/** So many rows with text after a quote are parsed alone, those after them by the piece. */
const mostSingle = 100

interface Piece {
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  /** Where the last complete row ends. */
  readonly end: number
}

/**
 * The complete rows of a piece, at most `most`; the last row counts only when the piece is the last. With `trim`, quotes
 * count when spaces stand around them (`"Soup" ,5`), and a row with text after a quote ends the piece.
 */
const parsePiece = (utf8: Buffer, from: number, delimiter: Delimiter, most: number, trim: boolean): Piece => {
  const isLast = from + pieceBytes >= utf8.length
  const rows: Array<ReadonlyArray<string>> = []
  const ends: Array<number> = []
  try {
    parse(utf8.subarray(from, from + pieceBytes), {
      delimiter,
      record_delimiter: ["\r\n", "\n", "\r"],
      relax_quotes: true,
      trim,
      relax_column_count: true,
      to: most,
      onRecord: (record: ReadonlyArray<string>, { bytes }) => {
        rows.push(record)
        ends.push(bytes)
        return null
      }
    })
    if (!isLast && rows.length < most) {
      rows.pop()
      ends.pop()
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
  }
  return { rows, end: ends.at(-1) ?? 0 }
}

const lineFeed = 0x0a
const carriageReturn = 0x0d

const nextLine = (bytes: Buffer, from: number) => {
  const feed = bytes.indexOf(lineFeed, from)
  const end = feed < 0 ? bytes.length : feed + 1
  const inner = bytes.subarray(from, end).indexOf(carriageReturn)
  return inner < 0 || from + inner + 2 === end ? end : from + inner + 1
}

/** As `parsePiece`, to the letter only where that reads no row: then one row, in the `attempt`-th of few cases. */
const readPiece = (utf8: Buffer, from: number, delimiter: Delimiter, most: number, attempt = 0) => {
  const trimmed = parsePiece(utf8, from, delimiter, most, true)
  if (trimmed.rows.length > 0) return { ...trimmed, isTrimmed: true }
  return { ...parsePiece(utf8, from, delimiter, attempt < mostSingle ? 1 : most, false), isTrimmed: false }
}

/** Rows, and the offset of the next one in the file. */
export interface Rows {
  readonly rows: ReadonlyArray<Row>
  readonly end: number
}

/** The first few rows, to choose the delimiter. */
export const firstRows = (utf8: Buffer, delimiter: Delimiter): ReadonlyArray<WholeRow> =>
  readPiece(utf8, 0, delimiter, 20, mostSingle).rows.map((cells, at) => ({ number: at + 1, cells }))

/**
 * The rows of a CSV file (RFC 4180 and its variants in practice), a batch at a time. Only the row with an
 * unterminated quote is lost: parsing continues at the next line.
 */
export function* csvRows(utf8: Buffer, delimiter: Delimiter): Generator<Rows, void> {
  let at = 0
  let number = 0
  let single = 0
  for (let broken = 0; at < utf8.length && broken < mostBroken;) {
    const { end, isTrimmed, rows } = readPiece(utf8, at, delimiter, pieceRows, single)
    if (!isTrimmed) single++
    if (rows.length > 0) {
      at += end
      yield { rows: rows.map((cells) => ({ number: ++number, cells })), end: at }
      continue
    }
    at = nextLine(utf8, at)
    broken++
    const rest = broken === mostBroken ? "; it is one of too many, and the file was read no further" : "; skipped"
    const message = `has a quote that does not end, or is longer than 64 KiB${rest}`
    yield { rows: [{ number: ++number, broken: message }], end: at }
  }
}

/** So many rows say what a column holds. */
const mostSamples = 1000

/** The first rows of a file, without broken ones. */
export const someRows = (utf8: Buffer, delimiter: Delimiter) => {
  const some: Array<WholeRow> = []
  for (const { rows } of csvRows(utf8, delimiter)) {
    some.push(...rows.filter((row) => "cells" in row))
    if (some.length >= mostSamples) break
  }
  return some
}

const quote = 0x22

/** Counts the rows from here on that aren't blank, without parsing them: a quote begins or ends a cell. */
export const countRows = (utf8: Buffer, from: number) => {
  let rows = 0
  let quoted = false
  let filled = false
  for (let at = from; at < utf8.length; at++) {
    const byte = utf8[at]!
    if (byte === quote) quoted = !quoted
    if (!quoted && (byte === lineFeed || byte === carriageReturn)) {
      if (filled) rows++
      filled = false
    } else if (byte > 0x20 && byte !== 0x2c && byte !== 0x3b && byte !== 0x7c) filled = true
  }
  return rows + (filled ? 1 : 0)
}
