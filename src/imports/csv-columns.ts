import { excerpt } from "./cleaning.ts"
import { plainName } from "./columns.ts"
import { type Header } from "./csv-header.ts"
import { recognisePreset } from "./export-presets.ts"
import { itemFields } from "./fields.ts"
import { leftOutCategories } from "./left-out-categories.ts"
import { leftOutPrices } from "./left-out-prices.ts"
import { type Mappings } from "./Mappings.ts"
import { type PlannedItem } from "./plan.ts"
import { priceColumn } from "./price-columns.ts"
import { suggestMappings } from "./suggest-mappings.ts"
import { otherColumns } from "./unmapped-columns.ts"

const isPriceTarget = (target: string) => target === "price" || target === "price_cents"

/** What the columns of a CSV file that are not imported seem to hold, once its items are known. */
export const examineColumns = (header: Header, mappings: Mappings, items: ReadonlyArray<PlannedItem>) => {
  const { byField, names, samples } = header
  const cellsOf = (at: number) => samples.map(({ cells }) => cells[at] ?? "")
  const columnAt = (at: number | undefined) =>
    at === undefined ? undefined : ({ name: plainName(names[at] ?? "") ?? "", cells: cellsOf(at) })
  const priceAt = columnAt(byField.get("price"))
  const imported = priceAt === undefined ? undefined : priceColumn(priceAt, header.inCents)
  const isChosen = Object.values(mappings).some(isPriceTarget)
  const hasPrices = items.some(({ priceCents }) => priceCents !== null)
  const isMissing = (field: typeof itemFields[number]) => {
    const at = byField.get(field)
    if (at === undefined) return true
    if (field !== "price") return samples.length > 0 && cellsOf(at).every((cell) => cell.trim() === "")
    return !hasPrices || !isChosen && imported?.content !== "prices"
  }
  const others = otherColumns(names, header, samples.map(({ cells }) => cells))
  const suggestion = suggestMappings(names, others, itemFields.filter(isMissing))
  const suggested = Object.entries(suggestion.mappings)
  const priceName = suggested.find(([, target]) => isPriceTarget(target))?.[0]
  const nameOfName = suggested.find(([, target]) => target === "name")?.[0]
  const nameAt = byField.get("name") ?? names.findIndex((name) => plainName(name) === nameOfName)
  const columns = others.map((column) => priceColumn(column))
  const notTheField = recognisePreset(names)?.others ?? []
  const rest = columns.filter(({ name, plain }) =>
    !Object.hasOwn(suggestion.mappings, name) && !notTheField.includes(plain)
  )
  const entryOf = (at: number) => {
    const { cells = [], number = 0 } = samples[at] ?? {}
    const name = excerpt(cells[nameAt] ?? "")
    return name === "" ? `row ${number}:` : `row ${number}, "${name}":`
  }
  const leftOut = leftOutPrices({
    others: rest,
    price: columns.find(({ name }) => name === priceName) ??
      (hasPrices && suggestion.undecided.length === 0 ? imported : undefined),
    undecided: suggestion.undecided,
    entryOf
  })
  const categoryName = suggested.find(([, target]) => target === "category")?.[0]
  const category = columns.find(({ name }) => name === categoryName) ?? columnAt(byField.get("category"))
  return {
    suggestion,
    leftOut: { ...leftOut, warnings: [...leftOut.warnings, ...leftOutCategories(rest, category, entryOf)] }
  }
}
