import { excerpt } from "./cleaning.ts"
import { type Columns, leftOut, mostNamed, plainName } from "./columns.ts"
import { type Warning } from "./Import.ts"
import { type LeftOutPrices } from "./left-out-prices.ts"
import { asArgument, type Mappings, type Suggestion } from "./Mappings.ts"
import { type Fault } from "./plan.ts"

/** Maximum of names in an answer. */
const mostColumns = 100

const shownNames = (names: ReadonlyArray<string>) =>
  names.slice(0, mostNamed).flatMap((name) => plainName(name) ?? []).slice(0, mostColumns)

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
export const nameFault = (
  names: ReadonlyArray<string>,
  { leftOut: { doubt, question }, suggestion }: { readonly suggestion: Suggestion; readonly leftOut: LeftOutPrices }
): Fault => {
  const columns = shownNames(names)
  const isFound = Object.values(suggestion.mappings).includes("name")
  const hint = isFound
    ? `. If these are right, pass ${asArgument(suggestion.mappings)}`
    : ". Say which column holds it, such as mappings {\"Dish\":\"name\"}"
  const told = question === undefined ? doubt : `The file has no price: ${question}`
  const message = `has no column "name"; its columns are ${columns.join(", ")}${hint}${
    told === undefined ? "" : `. ${told}`
  }`
  return { path: "file", message, choice: { columns, suggestion } }
}

/** A warning for each column that would be lost although a field is missing. */
export const suggestionWarnings = ({ mappings }: Suggestion): ReadonlyArray<Warning> =>
  Object.entries(mappings).map(([column, target]) =>
    leftOut(column, `; if it holds ${target}, pass ${asArgument({ [column]: target })}`)
  )
