import { cleanLine, excerpt } from "./cleaning.ts"
import { type ItemField, itemFields } from "./fields.ts"
import { plainHeader } from "./header-words.ts"
import { type Warning } from "./Import.ts"
import { type Mappings, type Target } from "./Mappings.ts"

/** Where the fields are in the rows of a CSV file. */
export interface Columns {
  /** The index of each field's column. */
  readonly byField: ReadonlyMap<ItemField, number>
  /** The index of the column that is joined to the name. */
  readonly variation: number | undefined
  /** Whether the price column has whole cents. */
  readonly inCents: boolean
  /** Columns that the caller leaves out. */
  readonly ignored: ReadonlySet<number>
  /** Keys of the mappings that no column has. */
  readonly unknown: ReadonlyArray<string>
}

/** `Item Type`, ` ITEM-TYPE ` and `item_type` are the same. */
export const fieldOf = (name: string): ItemField | undefined => {
  const plain = name.trim().toLowerCase().replace(/[\s-]+/g, "_")
  return itemFields.find((field) => field === plain)
}

/** The name in a message or a preview; undefined for a blank one. */
export const plainName = (name: string) => excerpt(name) === "" ? undefined : excerpt(name)

/** The warning for a column that is not imported; `why` goes on after "was left out". */
export const leftOut = (name: string, why: string): Warning => ({
  type: "field_skipped",
  context: `column ${name}`,
  message: `column ${name} was left out${why}`
})

/** Columns after these are found by the contract's names only: this many take a few milliseconds. */
export const mostNamed = 200

const wholeName = (name: string) => cleanLine(name.slice(0, 1000)).text
/** The name as it is, as a preview shows it, and but for capitals and marks. */
const spellings = [wholeName, excerpt, plainHeader] as const

/** Finds columns by name; of several with one name, the first. */
const finder = (names: ReadonlyArray<string>) => {
  const indexes = spellings.map((spell) => ({ spell, names: names.slice(0, mostNamed).map(spell) }))
  return (wanted: string) =>
    indexes.map(({ names, spell }) => spell(wanted) === "" ? -1 : names.indexOf(spell(wanted))).find((at) => at >= 0)
}

const fieldFor = (target: Target): ItemField | undefined =>
  target === "price_cents" ? "price" : itemFields.find((field) => field === target)

/** Finds each field's column: where the mappings say, else by its name; of several with one name, the first. */
export const columnsOf = (names: ReadonlyArray<string>, mappings: Mappings): Columns => {
  const byField = new Map<ItemField, number>()
  const ignored = new Set<number>()
  const unknown: Array<string> = []
  let variation: number | undefined
  const find = finder(Object.keys(mappings).length === 0 ? [] : names)
  for (const [column, target] of Object.entries(mappings)) {
    const at = find(column)
    const field = fieldFor(target)
    if (at === undefined) unknown.push(column)
    else if (target === "variation") variation = at
    else if (field === undefined) ignored.add(at)
    else byField.set(field, at)
  }
  const mapped = new Set([...byField.values(), ...ignored, ...(variation === undefined ? [] : [variation])])
  for (const [at, name] of names.entries()) {
    const field = mapped.has(at) ? undefined : fieldOf(name)
    if (field !== undefined && !byField.has(field)) byField.set(field, at)
  }
  return { byField, variation, inCents: Object.values(mappings).includes("price_cents"), ignored, unknown }
}
