import { excerpt } from "./cleaning.ts"
import { type Columns, mostNamed, plainName } from "./columns.ts"
import { type ItemField, itemFields } from "./fields.ts"
import { type Warning } from "./Import.ts"
import { type Mappings, type Suggestion } from "./Mappings.ts"
import { type Fault } from "./plan.ts"
import { suggestMappings } from "./suggest-mappings.ts"

/** Maximum of names in an answer. */
const mostColumns = 100

const shownNames = (names: ReadonlyArray<string>) =>
  names.slice(0, mostNamed).flatMap((name) => plainName(name) ?? []).slice(0, mostColumns)

/** The argument as the caller may pass it. */
export const asArgument = (mappings: Mappings) => `mappings ${JSON.stringify(mappings)}`

/** Which of the columns that are not imported seem to hold a field that is missing. `rows` are some below the header. */
export const suggestionFor = (
  names: ReadonlyArray<string>,
  { byField, ignored, variation }: Columns,
  missing: ReadonlyArray<ItemField>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): Suggestion => {
  const mapped = new Set([...byField.values(), ...ignored, variation])
  const some = names.slice(0, mostNamed)
  const candidates = some.flatMap((name, at) => {
    const shown = mapped.has(at) ? undefined : plainName(name)
    return shown === undefined ? [] : [{ name: shown, samples: rows.map((cells) => cells[at] ?? "") }]
  })
  return suggestMappings(some, candidates, missing)
}

/** Fields that no column has; the price also when no item got one. */
export const missingFields = (byField: ReadonlyMap<ItemField, number>, hasPrices: boolean) =>
  itemFields.filter((field) => !byField.has(field) || field === "price" && !hasPrices)

/** Why the mappings don't fit the file; undefined when they do. */
export const mappingFault = (
  names: ReadonlyArray<string>,
  { unknown }: Columns,
  mappings: Mappings,
  suggestion: () => Suggestion
): Fault | undefined => {
  const [column] = unknown
  if (column !== undefined) {
    const columns = shownNames(names)
    const message = `names a column that the file does not have; its columns are ${columns.join(", ")}`
    return { path: `mappings.${excerpt(column)}`, message, choice: { columns, suggestion: suggestion() } }
  }
  const list = Object.entries(mappings).find(([, target]) => target === "catalog_items")?.[0]
  return list === undefined
    ? undefined
    : { path: `mappings.${excerpt(list)}`, message: "catalog_items is for a JSON file, not for a column" }
}

/** The fault of a file without a column for the name. */
export const nameFault = (names: ReadonlyArray<string>, suggestion: Suggestion): Fault => {
  const columns = shownNames(names)
  const isFound = Object.values(suggestion.mappings).includes("name")
  const hint = isFound
    ? `. If these are right, pass ${asArgument(suggestion.mappings)}`
    : ". Say which column holds it, such as mappings {\"Dish\":\"name\"}"
  const message = `has no column "name"; its columns are ${columns.join(", ")}${hint}`
  return { path: "file", message, choice: { columns, suggestion } }
}

/** A warning for each column that would be lost although a field is missing. */
export const suggestionWarnings = ({ mappings }: Suggestion): ReadonlyArray<Warning> =>
  Object.entries(mappings).map(([column, target]) => ({
    type: "field_skipped",
    context: `column ${column}`,
    message: `column ${column} was left out; if it holds ${target}, pass ${asArgument({ [column]: target })}`
  }))
