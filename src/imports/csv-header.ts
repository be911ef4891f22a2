import { type Columns, columnsOf, mostNamed, plainName } from "./columns.ts"
import { type Delimiter, firstRows, someRows, type WholeRow } from "./csv-rows.ts"
import { foreignByName, isCurrencyColumn } from "./currency.ts"
import { itemFields } from "./fields.ts"
import { fitOf, plainHeader, priceKind } from "./header-words.ts"
import { type Marking, markingsOf } from "./hidden-rows.ts"
import { type Mappings } from "./Mappings.ts"
import { isItem, numbered } from "./no-header.ts"
import { type Decimal, hasCommaDecimal } from "./price.ts"
import { formColumns, mayBeList } from "./several-prices.ts"
import { surchargeColumn } from "./surcharge-column.ts"

const delimiters = [",", ";", "\t", "|"] as const

export interface Header extends Columns {
  readonly delimiter: Delimiter
  readonly row: number
  readonly width: number
  readonly names: ReadonlyArray<string>
  /** The first rows below it that have text. */
  readonly samples: ReadonlyArray<WholeRow>
  readonly decimal: Decimal
  /** Whether some price can only be one whose cents follow a comma. */
  readonly hasCommas: boolean
  /** The columns that may list the forms of an item. */
  readonly forms: ReadonlyArray<number>
  /** The column that says in which currency the prices are. */
  readonly currency: number | undefined
  /** Why no price of the file can be imported: the price column's name has another currency. */
  readonly foreign: string | undefined
  readonly markings: ReadonlyArray<Marking>
  /** The column of what a variation costs beside the price of its item. */
  readonly surcharge: number | undefined
  /** Whether the file has none: then columns have numbers for names, and `row` is the one above the first item. */
  readonly isMissing: boolean
  /** Rows above it that have text. */
  readonly above: number
}

/** What a message calls a column. */
export const nameAt = ({ names }: Pick<Header, "names">, at = -1, otherwise = "") =>
  plainName(names[at] ?? "") ?? otherwise

export const isBlank = (cells: ReadonlyArray<string>) => cells.every((cell) => cell.trim() === "")

const filled = (cells: ReadonlyArray<string>) => cells.filter((cell) => cell.trim() !== "").length

/** Longer texts are no headers. */
const mostHeader = 60

/** Whether a row can be the header, by what programs and people call the fields: a name, and another that is wanted. */
const isLikely = (cells: ReadonlyArray<string>, { byField }: Columns, isWanted: (plain: string) => boolean) => {
  const plain = cells.slice(0, mostNamed).flatMap((cell) => cell.length > mostHeader ? [] : [plainHeader(cell)])
  return (byField.has("name") || plain.some((name) => fitOf("name", name) !== undefined)) && plain.some(isWanted)
}
const isPrice = (plain: string) => priceKind(plain, []) !== undefined
const isOtherField = (plain: string) =>
  isPrice(plain) || itemFields.some((field) => field !== "name" && fitOf(field, plain) !== undefined)

/**
 * The first row with text; but under a title of the sheet, the first with a name and another field. Below a first row
 * that begins with `Name`, which may be the label of a title, a row counts by usual headers only with a price.
 */
const headerAmong = <R extends { readonly cells: ReadonlyArray<string> }>(
  rows: ReadonlyArray<R>,
  mappings: Mappings
) => {
  const [first] = rows
  if (first === undefined) return undefined
  const all = rows.map((row) => ({ row, columns: columnsOf(row.cells, mappings) }))
  const isNamed = all[0]?.columns.byField.has("name") === true
  const isWanted = isNamed ? isPrice : isOtherField
  const known = all.filter(({ columns: { byField } }) => byField.has("name") && byField.size > 1)
  const likely = known.length > 0 ? [] : all.filter(({ columns, row }) => isLikely(row.cells, columns, isWanted))
  const candidates = [...known, ...likely]
  // Those that have every column that the caller names go first.
  const found = candidates.find(({ columns }) => columns.unknown.length === 0) ?? candidates[0]
  return found?.row ?? (isNamed ? first : rows.find(({ cells }) => filled(cells) > 1) ?? first)
}

const headerOf = (utf8: Buffer, delimiter: Delimiter, mappings: Mappings): Omit<Header, "surcharge"> | undefined => {
  const rows = firstRows(utf8, delimiter).filter(({ cells }) => !isBlank(cells) && !/^sep=/i.test(cells[0] ?? ""))
  const header = headerAmong(rows, mappings)
  if (header === undefined) return undefined
  const isFirstItem = columnsOf(header.cells, mappings).byField.size === 0 && isItem(header.cells)
  const { cells: names, number } = isFirstItem ? { cells: numbered(header.cells), number: header.number - 1 } : header
  const columns = columnsOf(names, mappings)
  const samples = rows.filter((row) => row.number > number)
  const forms = formColumns(names, columns)
  const hasCommas = samples.some(({ cells }) => {
    const price = cells[columns.byField.get("price") ?? -1] ?? ""
    return hasCommaDecimal(price) && !mayBeList(price, cells, forms)
  })
  const currency = names.slice(0, mostNamed).findIndex((name, at) => isCurrencyColumn(name) && !columns.ignored.has(at))
  return {
    ...columns,
    currency: currency < 0 ? undefined : currency,
    foreign: foreignByName(names[columns.byField.get("price") ?? -1] ?? ""),
    delimiter,
    row: number,
    isMissing: isFirstItem,
    width: names.length,
    names,
    samples,
    markings: markingsOf(names).filter(({ at }) => ![...columns.byField.values(), ...columns.ignored].includes(at)),
    forms,
    hasCommas,
    decimal: delimiter === ";" || hasCommas ? "comma" : "point",
    above: rows.indexOf(header)
  }
}

/** Chooses the delimiter whose header has the most known columns, then the most columns, then the least above it. */
export const bestHeader = (utf8: Buffer, mappings: Mappings): Header | undefined => {
  const [best] = delimiters.flatMap((delimiter) => headerOf(utf8, delimiter, mappings) ?? [])
    .toSorted((a, b) => b.byField.size - a.byField.size || b.width - a.width || a.above - b.above)
  if (best === undefined) return undefined
  const samples = someRows(utf8, best.delimiter).filter(({ cells, number }) => number > best.row && !isBlank(cells))
  return { ...best, samples, surcharge: surchargeColumn({ ...best, samples }) }
}
