import { Either } from "effect"
import { excerpt } from "./cleaning.ts"
import { fieldOf, plainName } from "./columns.ts"
import { examineColumns } from "./csv-columns.ts"
import { bestHeader, type Header, isBlank, nameAt } from "./csv-header.ts"
import { CsvItems } from "./csv-items.ts"
import { countRows, csvRows, type Row } from "./csv-rows.ts"
import { type Decoded } from "./decode.ts"
import { Draft } from "./Draft.ts"
import { isHtml } from "./html-text.ts"
import { lossOf } from "./losses.ts"
import { type Mappings } from "./Mappings.ts"
import { headerFault } from "./no-header.ts"
import { type Fault, fault, mostWarnings, type Reading } from "./plan.ts"
import { shiftOf } from "./shifted-row.ts"
import { mappingFault, nameFault, suggestionWarnings } from "./unmapped-columns.ts"
import { optionColumns } from "./variants.ts"

/** After so many empty rows a file is read no further: spreadsheets write some below their rows, and nothing after. */
const mostEmpty = 100_000
/** Maximum of unmapped columns in a preview. */
const mostColumns = 100

/** Normalises an enum value, which people write as `Starting at`. */
const word = (cell: unknown) => typeof cell === "string" ? cell.trim().toLowerCase().replace(/[\s-]+/g, "_") : cell

/** Adds the mapped columns to the draft; returns the names of the others. */
const mapColumns = (draft: Draft, header: Header) => {
  const places = new Set<number>()
  const map = (at: number, target: string) => {
    if (!places.has(at)) draft.map(nameAt(header, at, target), target)
    places.add(at)
  }
  if (header.variation !== undefined) map(header.variation, "variation")
  for (const [field, at] of header.byField) map(at, field)
  for (const { at } of header.markings) map(at, "is_available")
  for (const at of optionColumns(header)) map(at, "variation")
  if (header.surcharge !== undefined) map(header.surcharge, "surcharge")
  for (const [at, name] of header.names.entries()) {
    const field = places.has(at) || header.ignored.has(at) ? undefined : fieldOf(name)
    if (field === undefined) continue
    draft.warn("field_skipped", `row ${header.row}, column ${at + 1}`, `is a second column ${field}; skipped`)
  }
  return header.names.flatMap((name, at) => places.has(at) ? [] : plainName(name) ?? []).slice(0, mostColumns)
}

const isHeaderAgain = (cells: ReadonlyArray<string>, { byField, names }: Header) =>
  byField.size > 1 && [...byField.values()].every((at) => cells[at]?.trim() === names[at]?.trim())

const addRow = (draft: Draft, header: Header, items: CsvItems, row: Row) => {
  if (row.number <= header.row) return
  if (draft.isFull) return draft.count("cells" in row && isBlank(row.cells) ? 0 : 1)
  if ("broken" in row) {
    draft.rows++
    return draft.warn("format_error", `row ${row.number}`, row.broken)
  }
  const { cells, number } = row
  if (isBlank(cells)) return
  const entry = `row ${number}`
  const shift = shiftOf(cells, header)
  if (shift !== undefined) {
    draft.rows++
    return draft.warn("format_error", entry, shift)
  }
  if (isHeaderAgain(cells, header)) {
    draft.rows++
    return draft.warn("format_error", entry, `repeats the header, "${excerpt(cells.join(", "))}"; skipped`)
  }
  for (const [field, at] of header.byField) draft.map(nameAt(header, at, field), field, cells[at])
  draft.see(cells, entry)
  const description = cells[header.byField.get("description") ?? -1] ?? ""
  if (isHtml(description)) draft.seeHtml(description, entry, `${entry}, column description`)
  items.add(cells, number)
}

/** Reads a CSV import (contract: Import, CSV). */
export const parseCsv = ({ encoding, isGuess, utf8 }: Decoded, mappings: Mappings): Either.Either<Reading, Fault> => {
  const header = bestHeader(utf8, mappings)
  if (header === undefined) return fault("file", "has no header row that can be read")
  const before = () => examineColumns(header, mappings, [])
  if (header.isMissing && !header.byField.has("name")) {
    return Either.left(headerFault(header.samples.map(({ cells }) => cells), header.delimiter, mappings))
  }
  const misfit = mappingFault(header.names, header, mappings, () => before().suggestion)
  if (misfit !== undefined) return Either.left(misfit)
  if (!header.byField.has("name")) return Either.left(nameFault(header.names, before()))
  const draft = new Draft(word)
  if (isGuess) draft.guessed(encoding)
  if (header.above > 0) {
    const why = `has its header in row ${header.row}; what stands above it was left out`
    draft.warn("format_error", "file", why)
  }
  const unmapped = mapColumns(draft, header)
  const items = new CsvItems(draft, header)
  let empty = 0
  for (const { end, rows } of csvRows(utf8, header.delimiter)) {
    for (const row of rows) addRow(draft, header, items, row)
    empty += rows.filter((row) => "cells" in row && isBlank(row.cells)).length
    if (draft.isFull) draft.count(countRows(utf8, end))
    else if (empty < mostEmpty) continue
    else if (end < utf8.length) {
      const why = `is where reading ended, after ${mostEmpty.toLocaleString("en-US")} empty rows; delete these`
      draft.warn("format_error", `row ${rows.at(-1)?.number ?? 0}`, why)
    }
    break
  }
  const { lost, warnings } = items.finish()
  draft.finish("file")
  if (draft.items.length === 0) return fault("file", `has no row that can be imported${draft.reasons}`)
  const { leftOut, suggestion } = examineColumns(header, mappings, draft.items)
  const hints = [...suggestionWarnings(suggestion), ...leftOut.warnings, ...warnings]
  return Either.right({
    format: "csv",
    encoding,
    delimiter: header.delimiter,
    plan: { business: null, items: draft.items },
    mappings: draft.mappings,
    unmapped,
    suggestion,
    warnings: [...hints, ...draft.warnings].slice(0, mostWarnings),
    warningsTotal: draft.warningsTotal + hints.length,
    rows: draft.rows,
    loss: lossOf(draft, {
      lost,
      suggestion,
      price: nameAt(header, header.byField.get("price"), "price"),
      advice: "Write each as an amount in US dollars, such as 5.00",
      ...leftOut
    })
  })
}
