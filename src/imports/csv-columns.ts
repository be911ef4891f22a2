import { excerpt } from "./cleaning.ts"
import { mostNamed, plainName } from "./columns.ts"
import { type Header, isBlank, nameAt } from "./csv-header.ts"
import { recognisePreset } from "./export-presets.ts"
import { type ItemField, itemFields } from "./fields.ts"
import { leftOutCategories } from "./left-out-categories.ts"
import { leftOutPrices } from "./left-out-prices.ts"
import { isPriceTarget, type Mappings, type Target } from "./Mappings.ts"
import { type PlannedItem } from "./plan.ts"
import { type Column, priceColumn } from "./price-columns.ts"
import { suggestMappings } from "./suggest-mappings.ts"

/** What the columns of a CSV file that are not imported seem to hold, once its items are known. */
export const examineColumns = (header: Header, mappings: Mappings, items: ReadonlyArray<PlannedItem>) => {
  const { byField, ignored, names, samples, variation } = header
  const columnAt = (at: number): Column => ({
    name: nameAt(header, at),
    cells: samples.map(({ cells }) => cells[at] ?? "")
  })
  const columnOf = (field: ItemField) => {
    const at = byField.get(field)
    return at === undefined ? undefined : columnAt(at)
  }
  const price = columnOf("price")
  const imported = price === undefined ? undefined : priceColumn(price, header.inCents)
  const isChosen = Object.values(mappings).some(isPriceTarget)
  // Without a name there are no items yet, and what the column has in it must do.
  const hasPrices = items.length === 0
    ? imported?.content === "prices"
    : items.some(({ priceCents }) => priceCents !== null)
  const isMissing = (field: ItemField) => {
    if (field === "price") return imported === undefined || !hasPrices || !isChosen && imported.content !== "prices"
    const column = columnOf(field)
    return column === undefined || samples.length > 0 && isBlank(column.cells)
  }
  const mapped = new Set([...byField.values(), ...ignored, variation, header.surcharge])
  // Of several with one name, the first.
  const others = names.slice(0, mostNamed).flatMap((name, at) =>
    mapped.has(at) || names.indexOf(name) < at || plainName(name) === undefined ? [] : [columnAt(at)]
  )
  const suggestion = suggestMappings(names, others, itemFields.filter(isMissing))
  const targetOf = ({ name }: Column) =>
    Object.hasOwn(suggestion.mappings, name) ? suggestion.mappings[name] : undefined
  const columns = others.map((column) => priceColumn(column))
  const suggestedAs = (target: Target) => columns.find((column) => targetOf(column) === target)
  const notTheField = recognisePreset(names)?.others ?? []
  const rest = columns.filter((column) => targetOf(column) === undefined && !notTheField.includes(column.plain))
  const nameCells = (columnOf("name") ?? suggestedAs("name"))?.cells ?? []
  const entryOf = (at: number) => {
    const name = excerpt(nameCells[at] ?? "")
    return `row ${samples[at]?.number ?? 0}${name === "" ? "" : `, "${name}"`}:`
  }
  const leftOut = leftOutPrices({
    others: rest,
    price: columns.find((column) => isPriceTarget(targetOf(column))) ??
      (hasPrices && suggestion.undecided.length === 0 ? imported : undefined),
    undecided: suggestion.undecided,
    entryOf
  })
  const category = suggestedAs("category") ?? columnOf("category")
  return {
    suggestion,
    leftOut: { ...leftOut, warnings: [...leftOut.warnings, ...leftOutCategories(rest, category, entryOf)] }
  }
}
