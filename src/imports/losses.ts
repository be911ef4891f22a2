import { type Draft } from "./Draft.ts"
import { asArgument, isPriceTarget, type Suggestion, type Target } from "./Mappings.ts"
import { type Loss } from "./plan.ts"
import { foreignWhy } from "./price.ts"

interface Source {
  /** The column or key of the price. */
  readonly price: string
  /** What the author of such a file writes instead. */
  readonly advice: string
  /** What may mend a file of which no entry has a name. */
  readonly suggestion: Suggestion
  /** What only the owner can answer, and that another column has other prices than the suggested one. */
  readonly question?: string | undefined
  readonly doubt?: string | undefined
  /** That rows have prices which can't be one price each, and the columns of these. */
  readonly lost?: { readonly message: string; readonly columns: ReadonlyArray<string> } | undefined
  /** A column of prices in another currency that is not imported. */
  readonly foreign?: { readonly name: string; readonly example: string } | undefined
}

const without = (...columns: ReadonlyArray<string>) =>
  `or pass ${asArgument(Object.fromEntries(columns.map((column) => [column, "ignore"])))} to publish without prices`

/** Of a column that would be lost although the catalog needs it: its prices, or the list of items. */
const lostColumn = (column: string, target: Target, doubt = ""): Loss => {
  const [name, map, ignore] = [column, { [column]: target }, { [column]: "ignore" }].map((value) =>
    JSON.stringify(value)
  )
  const message = target === "catalog_items"
    ? `would publish no item, although the file's ${name} may be the list of them: pass mappings ${map}, or ${ignore}`
    : `would publish no price, although ${name} looks like one: pass mappings ${map}, or ${ignore} to publish without` +
      (doubt === "" ? "" : `. Check it first: ${doubt}`)
  return { path: "mappings", message }
}

/** Undefined when the import loses neither all of its items nor all of its prices. */
export const lossOf = (
  draft: Draft,
  { advice, doubt, foreign, lost, price, question, suggestion }: Source
): Loss | undefined => {
  const vital = Object.entries(suggestion.mappings).find(([, target]) =>
    isPriceTarget(target) || target === "catalog_items"
  )
  if (vital !== undefined) return lostColumn(...vital, doubt)
  if (draft.items.length === 0) {
    if (draft.rows === 0) return undefined
    const isFound = Object.values(suggestion.mappings).includes("name")
    const hint = isFound ? `. If these are right, pass ${asArgument(suggestion.mappings)}` : ""
    const message = `would publish no item: none of its ${draft.rows} entries can be imported${draft.reasons}${hint}`
    return { path: "file", message }
  }
  if (question !== undefined) return { path: "file", message: `would publish no price: ${question}` }
  if (draft.items.some(({ priceCents }) => priceCents !== null)) return undefined
  const { count, first } = draft.unread
  if (first !== undefined) {
    const message = `would publish no price: none of its prices (${count}) can be read: ${first}. ${advice}, ${
      without(price)
    }`
    return { path: "file", message }
  }
  if (lost !== undefined) {
    const hasPrice = draft.mappings.some(({ target_field }) => target_field === "price")
    const columns = hasPrice ? [price, ...lost.columns] : lost.columns
    return { path: "file", message: `would publish no price: ${lost.message}; ${without(...columns)}` }
  }
  if (foreign === undefined) return undefined
  const message = `would publish no price: "${foreign.example}" in column ${foreign.name} ${foreignWhy}. ` +
    `Add a column price in dollars, ${without(foreign.name)}`
  return { path: "file", message }
}
