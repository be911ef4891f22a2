import { type Columns, columnsOf } from "./columns.ts"
import { type Delimiter, firstRows } from "./csv-rows.ts"
import { type Marking, markingsOf } from "./hidden-rows.ts"
import { type Mappings } from "./Mappings.ts"
import { type Decimal, hasCommaDecimal } from "./price.ts"

const delimiters = [",", ";", "\t", "|"] as const

export interface Header extends Columns {
  readonly delimiter: Delimiter
  readonly row: number
  readonly width: number
  readonly names: ReadonlyArray<string>
  /** The first rows below it. */
  readonly samples: ReadonlyArray<ReadonlyArray<string>>
  readonly decimal: Decimal
  readonly markings: ReadonlyArray<Marking>
  /** Rows above it that have text. */
  readonly above: number
}

export const isBlank = (cells: ReadonlyArray<string>) => cells.every((cell) => cell.trim() === "")

const filled = (cells: ReadonlyArray<string>) => cells.filter((cell) => cell.trim() !== "").length

/** The first row with text; but under a title of the sheet, the first with a name and another field. */
const headerAmong = <R extends { readonly cells: ReadonlyArray<string> }>(
  rows: ReadonlyArray<R>,
  mappings: Mappings
) => {
  const [first] = rows
  if (first === undefined || columnsOf(first.cells, mappings).byField.has("name")) return first
  const known = rows.find(({ cells }) => {
    const { byField } = columnsOf(cells, mappings)
    return byField.has("name") && byField.size > 1
  })
  return known ?? rows.find(({ cells }) => filled(cells) > 1) ?? first
}

const headerOf = (utf8: Buffer, delimiter: Delimiter, mappings: Mappings): Header | undefined => {
  const rows = firstRows(utf8, delimiter).filter(({ cells }) => !isBlank(cells) && !/^sep=/i.test(cells[0] ?? ""))
  const header = headerAmong(rows, mappings)
  if (header === undefined) return undefined
  const { cells: names, number } = header
  const columns = columnsOf(names, mappings)
  const samples = rows.flatMap((row) => row.number > number ? [row.cells] : [])
  const hasCommas = samples.some((cells) => hasCommaDecimal(cells[columns.byField.get("price") ?? -1] ?? ""))
  return {
    ...columns,
    delimiter,
    row: number,
    width: names.length,
    names,
    samples,
    markings: markingsOf(names).filter(({ at }) => ![...columns.byField.values()].includes(at)),
    decimal: delimiter === ";" || hasCommas ? "comma" : "point",
    above: rows.indexOf(header)
  }
}

/** Chooses the delimiter whose header has the most known columns, then the most columns. */
export function* bestHeader(utf8: Buffer, mappings: Mappings): Generator<void, Header | undefined> {
  const headers: Array<Header> = []
  for (const delimiter of delimiters) {
    const header = headerOf(utf8, delimiter, mappings)
    if (header !== undefined) headers.push(header)
    yield
  }
  return headers.toSorted((a, b) => b.byField.size - a.byField.size || b.width - a.width)[0]
}
