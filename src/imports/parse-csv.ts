import { Either } from "effect"
import { type Columns, columnsOf, fieldOf, plainName } from "./columns.ts"
import { countRows, csvRows, type Delimiter, firstRows, type Row } from "./csv-rows.ts"
import { type Decoded } from "./decode.ts"
import { type ItemField } from "./fields.ts"
import { type Mappings } from "./Mappings.ts"
import { Draft, type Fault, fault, mostRows, mostWarnings, type RawItem, type Reading } from "./plan.ts"
import { priceOfCents } from "./price-cents.ts"
import { priceOfText } from "./price.ts"
import { mappingFault, missingFields, nameFault, suggestionFor, suggestionWarnings } from "./unmapped-columns.ts"

const delimiters = [",", ";", "\t"] as const
/** Maximum of rows to parse, including blank ones. */
const mostLines = 5 * mostRows
/** Maximum of unmapped columns in a preview. */
const mostColumns = 100

interface Header extends Columns {
  readonly delimiter: Delimiter
  readonly row: number
  readonly width: number
  readonly names: ReadonlyArray<string>
  /** The first rows below it. */
  readonly samples: ReadonlyArray<ReadonlyArray<string>>
}

const isBlank = (cells: ReadonlyArray<string>) => cells.every((cell) => cell.trim() === "")

const headerOf = (utf8: Buffer, delimiter: Delimiter, mappings: Mappings): Header | undefined => {
  const rows = firstRows(utf8, delimiter)
  const header = rows.find(({ cells }) => !isBlank(cells) && !/^sep=/i.test(cells[0] ?? ""))
  if (header === undefined) return undefined
  const { cells: names, number } = header
  const samples = rows.flatMap((row) => row.number > number ? [row.cells] : [])
  return { ...columnsOf(names, mappings), delimiter, row: number, width: names.length, names, samples }
}

/** Chooses the delimiter whose header has the most known columns, then the most columns. */
function* bestHeader(utf8: Buffer, mappings: Mappings): Generator<void, Header | undefined> {
  const headers: Array<Header> = []
  for (const delimiter of delimiters) {
    const header = headerOf(utf8, delimiter, mappings)
    if (header !== undefined) headers.push(header)
    yield
  }
  return headers.toSorted((a, b) => b.byField.size - a.byField.size || b.width - a.width)[0]
}

/** Normalises an enum value, which people write as `Starting at`. */
const word = (cell: string | undefined) => cell?.trim().toLowerCase().replace(/[\s-]+/g, "_")

const itemOf = (cells: ReadonlyArray<string>, { byField, delimiter, inCents }: Header): RawItem => {
  const cell = (field: ItemField) => {
    const at = byField.get(field)
    return at === undefined ? undefined : cells[at] ?? ""
  }
  const price = cell("price")?.trim() ?? ""
  return {
    price: price === "" ? null : inCents ? priceOfCents(price) : priceOfText(price, delimiter),
    text: {
      name: cell("name"),
      description: cell("description"),
      category: cell("category"),
      item_type: word(cell("item_type")),
      price_type: word(cell("price_type"))
    }
  }
}

/** Adds the mapped columns to the draft; returns the names of the others. */
const mapColumns = (draft: Draft, header: Header) => {
  const places = new Set(header.byField.values())
  for (const [field, at] of header.byField) draft.map(plainName(header.names[at] ?? "") ?? field, field)
  for (const [at, name] of header.names.entries()) {
    const field = places.has(at) || header.ignored.has(at) ? undefined : fieldOf(name)
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
    return draft.warn("format_error", `row ${row.number}`, message, row.cells[header.byField.get("name") ?? -1])
  }
  for (const [field, at] of header.byField) {
    draft.map(plainName(header.names[at] ?? "") ?? field, field, row.cells[at])
  }
  draft.add(
    itemOf(row.cells, header),
    (field) => field === undefined ? `row ${row.number}` : `row ${row.number}, column ${field}`
  )
}

/** Reads a CSV import (contract: Import, CSV). */
export function* parseCsv(
  { encoding, utf8 }: Decoded,
  mappings: Mappings
): Generator<void, Either.Either<Reading, Fault>> {
  const header = yield* bestHeader(utf8, mappings)
  if (header === undefined) return fault("file", "has no header row that can be read")
  const suggestion = (hasPrices: boolean) =>
    suggestionFor(header.names, header, missingFields(header.byField, hasPrices), header.samples)
  const misfit = mappingFault(header.names, header, mappings, () => suggestion(true))
  if (misfit !== undefined) return Either.left(misfit)
  if (!header.byField.has("name")) return Either.left(nameFault(header.names, suggestion(true)))
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
  const suggested = suggestion(draft.items.some(({ priceCents }) => priceCents !== null))
  const hints = suggestionWarnings(suggested)
  return Either.right({
    format: "csv",
    encoding,
    delimiter: header.delimiter,
    plan: { business: null, items: draft.items },
    mappings: draft.mappings,
    unmapped,
    suggestion: suggested,
    warnings: [...hints, ...draft.warnings].slice(0, mostWarnings),
    warningsTotal: draft.warningsTotal + hints.length,
    rows: draft.rows
  })
}
