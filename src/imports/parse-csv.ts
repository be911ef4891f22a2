import { Either } from "effect"
import { excerpt } from "./cleaning.ts"
import { countRows, csvRows, type Delimiter, firstRows, type Row } from "./csv-rows.ts"
import { type Decoded } from "./decode.ts"
import { Draft, type Fault, fault, type ItemField, itemFields, mostRows, type RawItem, type Reading } from "./plan.ts"
import { priceOfText } from "./price.ts"

const delimiters = [",", ";", "\t"] as const
/** Maximum of rows to parse, including blank ones. */
const mostLines = 5 * mostRows
/** Maximum of unmapped columns in a preview. */
const mostColumns = 100

interface Header {
  readonly delimiter: Delimiter
  readonly row: number
  readonly width: number
  /** The index of each field's column; of several with one name, the first. */
  readonly columns: ReadonlyMap<ItemField, number>
  readonly names: ReadonlyArray<string>
}

const isBlank = (cells: ReadonlyArray<string>) => cells.every((cell) => cell.trim() === "")

/** `Item Type`, ` ITEM-TYPE ` and `item_type` are the same. */
const fieldOf = (name: string): ItemField | undefined => {
  const plain = name.trim().toLowerCase().replace(/[\s-]+/g, "_")
  return itemFields.find((field) => field === plain)
}

const headerOf = (utf8: Buffer, delimiter: Delimiter): Header | undefined => {
  const header = firstRows(utf8, delimiter).find(({ cells }) => !isBlank(cells) && !/^sep=/i.test(cells[0] ?? ""))
  if (header === undefined) return undefined
  const columns = new Map<ItemField, number>()
  for (const [at, name] of header.cells.entries()) {
    const field = fieldOf(name)
    if (field !== undefined && !columns.has(field)) columns.set(field, at)
  }
  return { delimiter, row: header.number, width: header.cells.length, columns, names: header.cells }
}

/** Chooses the delimiter whose header has the most known columns, then the most columns. */
function* bestHeader(utf8: Buffer): Generator<void, Header | undefined> {
  const headers: Array<Header> = []
  for (const delimiter of delimiters) {
    const header = headerOf(utf8, delimiter)
    if (header !== undefined) headers.push(header)
    yield
  }
  return headers.toSorted((a, b) => b.columns.size - a.columns.size || b.width - a.width)[0]
}

/** Normalises an enum value, which people write as `Starting at`. */
const word = (cell: string | undefined) => cell?.trim().toLowerCase().replace(/[\s-]+/g, "_")

const itemOf = (cells: ReadonlyArray<string>, { columns, delimiter }: Header): RawItem => {
  const cell = (field: ItemField) => {
    const at = columns.get(field)
    return at === undefined ? undefined : cells[at] ?? ""
  }
  const price = cell("price")?.trim() ?? ""
  return {
    price: price === "" ? null : priceOfText(price, delimiter),
    text: {
      name: cell("name"),
      description: cell("description"),
      category: cell("category"),
      item_type: word(cell("item_type")),
      price_type: word(cell("price_type"))
    }
  }
}

const plainName = (name: string) => excerpt(name) === "" ? undefined : excerpt(name)

/** Adds the mapped columns to the draft; returns the names of the others. */
const mapColumns = (draft: Draft, header: Header) => {
  const places = new Set(header.columns.values())
  for (const [field, at] of header.columns) draft.map(plainName(header.names[at] ?? "") ?? field, field)
  for (const [at, name] of header.names.entries()) {
    const field = places.has(at) ? undefined : fieldOf(name)
    if (field === undefined) continue
    draft.warn("field_skipped", `row ${header.row}, column ${at + 1}`, `is a second column ${field}; skipped`)
  }
  return header.names.flatMap((name, at) => places.has(at) ? [] : plainName(name) ?? []).slice(0, mostColumns)
}

const addRow = (draft: Draft, header: Header, row: Row) => {
  if (row.number <= header.row) return
  if (draft.isFull) return draft.count("cells" in row && isBlank(row.cells) ? 0 : 1)
  if ("broken" in row) {
    draft.rows++
    return draft.warn("format_error", `row ${row.number}`, row.broken)
  }
  if (isBlank(row.cells)) return
  if (!isBlank(row.cells.slice(header.width))) {
    draft.rows++
    const message = `has ${row.cells.length} cells where the header has ${header.width}; skipped`
    return draft.warn("format_error", `row ${row.number}`, message, row.cells[header.columns.get("name") ?? -1])
  }
  for (const [field, at] of header.columns) {
    draft.map(plainName(header.names[at] ?? "") ?? field, field, row.cells[at])
  }
  draft.add(
    itemOf(row.cells, header),
    (field) => field === undefined ? `row ${row.number}` : `row ${row.number}, column ${field}`
  )
}

/** Reads a CSV import (contract: Import, CSV). */
export function* parseCsv({ encoding, utf8 }: Decoded): Generator<void, Either.Either<Reading, Fault>> {
  const header = yield* bestHeader(utf8)
  if (header === undefined) return fault("file", "has no header row that can be read")
  if (!header.columns.has("name")) {
    const names = header.names.flatMap((name) => plainName(name) ?? []).slice(0, 10).join(", ")
    return fault("file", `has no column "name"; its columns are ${names}`)
  }
  const draft = new Draft()
  const unmapped = mapColumns(draft, header)
  for (const { end, rows } of csvRows(utf8, header.delimiter)) {
    for (const row of rows) addRow(draft, header, row)
    yield
    if (!draft.isFull && (rows.at(-1)?.number ?? 0) < mostLines) continue
    draft.count(yield* countRows(utf8, end))
    break
  }
  draft.finish("file")
  if (draft.items.length === 0) return fault("file", "has no row that can be imported")
  return Either.right({
    format: "csv",
    encoding,
    delimiter: header.delimiter,
    plan: { business: null, items: draft.items },
    mappings: draft.mappings,
    unmapped,
    warnings: draft.warnings,
    warningsTotal: draft.warningsTotal,
    rows: draft.rows
  })
}
