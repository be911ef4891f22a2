import { excerpt } from "./cleaning.ts"
import { type Header, isBlank } from "./csv-header.ts"

/** An amount as prices are written, and no number of anything else. */
const isMoney = (cell: string | undefined) => /^\p{Sc}?\s?\d{1,6}[.,]\d{2}\s?\p{Sc}?$/u.test((cell ?? "").trim())

/**
 * Why the cells of a row are not those of the columns above them; undefined when they are. A text with a delimiter and no
 * quotes pushes all after it to the right: its number of portions would be the price.
 */
export const shiftOf = (cells: ReadonlyArray<string>, { byField, delimiter, names, width }: Header) => {
  const cure =
    `skipped: ${excerpt(cells.join(delimiter))}. Put a text with "${delimiter}" in it in double quotes, such ` +
    `as "salt${delimiter} pepper"`
  if (!isBlank(cells.slice(width))) return `has ${cells.length} cells where the header has ${width}; ${cure}`
  const price = byField.get("price")
  if (price === undefined) return undefined
  const unnamed = names.findIndex((name, at) => isBlank([name]) && !isBlank([cells[at] ?? ""]))
  if (cells.length > width && unnamed > price) {
    return `has a cell in a column without a name, and more cells than the header; ${cure}`
  }
  const text = (["category", "item_type", "price_type", "description"] as const).find((field) => {
    const at = byField.get(field)
    return at !== undefined && at > price && isMoney(cells[at])
  })
  return text === undefined ? undefined : `has an amount as its ${text}; ${cure}`
}
