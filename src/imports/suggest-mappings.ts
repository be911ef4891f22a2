import { isCategoryName } from "./category-columns.ts"
import { recognisePreset } from "./export-presets.ts"
import { type ItemField, itemFields } from "./fields.ts"
import { fitOf, plainHeader } from "./header-words.ts"
import { type Suggestion, type Target } from "./Mappings.ts"
import { choosePrice, type Column, priceColumn } from "./price-columns.ts"
import { isVariation } from "./variation.ts"

interface Plain extends Column {
  readonly plain: string
}

const inOrder: ReadonlyArray<Target> = [...itemFields, "variation"]

/** How well a column fits, smaller is better; undefined when it doesn't. */
type Fit = (column: Plain) => number | undefined

/** The best of the columns; of two that fit alike, the first in the file. */
const bestOf = (columns: ReadonlyArray<Plain>, fit: Fit) => {
  let best: { readonly name: string; readonly rank: number } | undefined
  for (const column of columns) {
    const rank = fit(column)
    if (rank !== undefined && (best === undefined || rank < best.rank)) best = { name: column.name, rank }
  }
  return best?.name
}

const placeIn = (names: ReadonlyArray<string> = []): Fit => ({ plain }) => {
  const place = names.indexOf(plain)
  return place < 0 ? undefined : place
}

/** Whether a column has text for the field. */
const hasContent = ({ cells }: Column, field: ItemField) =>
  cells.some((cell) => field === "category" ? isCategoryName(cell) : cell.trim() !== "")

/**
 * Suggests which of the columns that are not imported hold the fields that no column has yet. `headers` are all of the
 * file's, by which the program that wrote it is recognised. No column and no field is suggested twice.
 */
export const suggestMappings = (
  headers: ReadonlyArray<string>,
  candidates: ReadonlyArray<Column>,
  missing: ReadonlyArray<ItemField>
): Suggestion => {
  const preset = recognisePreset(headers)
  const columns = candidates.map((candidate) => ({ ...candidate, plain: plainHeader(candidate.name) }))
  const chosen = new Map<string, Target>()
  const open = new Set<ItemField>(missing.filter((field) => field !== "price"))
  const left = () => columns.filter(({ name, plain }) => !chosen.has(name) && preset?.others?.includes(plain) !== true)
  const choose = (field: ItemField, fit: Fit) => {
    const name = open.has(field) ? bestOf(left().filter((column) => hasContent(column, field)), fit) : undefined
    if (name === undefined) return
    chosen.set(name, field)
    open.delete(field)
  }
  for (const field of itemFields) choose(field, placeIn(preset?.fields[field]))
  const { column: price, undecided } = missing.includes("price")
    ? choosePrice(left().map((column) => priceColumn(column)), preset?.fields.price ?? [])
    : { undecided: [] }
  if (price !== undefined) chosen.set(price.name, price.inCents ? "price_cents" : "price")
  const prices = new Set(undecided.map(({ name }) => name))
  for (const field of itemFields) choose(field, ({ name, plain }) => prices.has(name) ? undefined : fitOf(field, plain))
  const variation = columns.find(({ cells, plain }) => plain === preset?.variation && cells.some(isVariation))
  if (variation !== undefined) chosen.set(variation.name, "variation")
  const placeOf = ([, target]: readonly [string, Target]) =>
    inOrder.indexOf(target === "price_cents" ? "price" : target)
  const mappings = Object.fromEntries([...chosen].toSorted((a, b) => placeOf(a) - placeOf(b)))
  return { program: preset?.program ?? null, mappings, undecided: [...prices] }
}
