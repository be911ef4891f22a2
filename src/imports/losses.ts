import { type Draft } from "./Draft.ts"
import { type Suggestion } from "./Mappings.ts"
import { type Loss } from "./plan.ts"
import { foreignWhy } from "./price.ts"
import { asArgument } from "./unmapped-columns.ts"

interface Source {
  /** The column or key of the price. */
  readonly price: string
  /** What the author of such a file writes instead. */
  readonly advice: string
  /** What may mend a file of which no entry has a name. */
  readonly suggestion: Suggestion
  /** A column of prices in another currency that is not imported. */
  readonly foreign?: { readonly name: string; readonly example: string } | undefined
}

const without = (column: string) => `or pass ${asArgument({ [column]: "ignore" })} to publish without prices`

/** Undefined when the import loses neither all of its items nor all of its prices. */
export const lossOf = (draft: Draft, { advice, foreign, price, suggestion }: Source): Loss | undefined => {
  if (draft.items.length === 0) {
    if (draft.rows === 0) return undefined
    const isFound = Object.values(suggestion.mappings).includes("name")
    const hint = isFound ? `. If these are right, pass ${asArgument(suggestion.mappings)}` : ""
    const message = `would publish no item: none of its ${draft.rows} entries can be imported${draft.reasons}${hint}`
    return { path: "file", message }
  }
  if (draft.items.some(({ priceCents }) => priceCents !== null)) return undefined
  const { count, first } = draft.unread
  if (first !== undefined) {
    const message = `would publish no price: none of its prices (${count}) can be read: ${first}. ${advice}, ${
      without(price)
    }`
    return { path: "file", message }
  }
  if (foreign === undefined) return undefined
  const message = `would publish no price: "${foreign.example}" in column ${foreign.name} ${foreignWhy}. ` +
    `Add a column price in dollars, ${without(foreign.name)}`
  return { path: "file", message }
}
