import { excerpt } from "./cleaning.ts"
import { type ItemField, itemFields } from "./fields.ts"
import { plainHeader } from "./header-words.ts"
import { type Warning } from "./Import.ts"
import { type Fields, own } from "./json-fields.ts"
import { leftOutPrices } from "./left-out-prices.ts"
import { asArgument, isPriceTarget, type Mappings, type Suggestion } from "./Mappings.ts"
import { type Fault } from "./plan.ts"
import { priceColumn } from "./price-columns.ts"
import { suggestMappings } from "./suggest-mappings.ts"

const ofItems = "catalog_items[]."

/** What people and programs call the list of items. */
const listNames = ["items", "catalog", "menu", "products", "services", "menu items", "item list", "catalog items"]

/** Which keys of a JSON file hold which field. */
export interface Keys {
  /** The key of the list of items. */
  readonly list: string
  readonly ofField: Readonly<Partial<Record<ItemField, string>>>
  /** The key of what is joined to the name. */
  readonly variation: string | undefined
  /** Whether the price is in whole cents. */
  readonly inCents: boolean
  /** Keys of items that are left out on purpose. */
  readonly ignored: ReadonlyArray<string>
  /** These, and those that are imported. */
  readonly known: ReadonlyArray<string>
}

/** A key of items, as mappings name it. */
export const bare = (key: string) => key.startsWith(ofItems) ? key.slice(ofItems.length) : key

/** The keys that the mappings name; a field's own name for the others. */
export const keysOf = (mappings: Mappings): Keys => {
  const ignored = Object.entries(mappings).flatMap(([source, target]) => target === "ignore" ? [bare(source)] : [])
  const named = itemFields.filter((field) => !ignored.includes(field))
  const ofField: Partial<Record<ItemField, string>> = Object.fromEntries(named.map((field) => [field, field]))
  let list = "catalog_items"
  let variation: string | undefined
  for (const [source, target] of Object.entries(mappings)) {
    if (target === "catalog_items") list = source
    else if (target === "variation") variation = bare(source)
    else if (target !== "ignore") ofField[target === "price_cents" ? "price" : target] = bare(source)
  }
  const inCents = Object.values(mappings).includes("price_cents")
  const known = [...ignored, ...Object.values(ofField), ...(variation === undefined ? [] : [variation])]
  return { list, ofField, variation, inCents, ignored, known }
}

/** Collects which of the mapped keys are in the file: one that is nowhere is a mistake of the caller. */
export class MappedKeys {
  readonly #missing: Set<string>

  constructor(mappings: Mappings) {
    this.#missing = new Set(Object.keys(mappings))
  }

  /** Keys of the file's root, or of an item. */
  see(fields: Readonly<Record<string, unknown>>, isItem: boolean) {
    for (const key of this.#missing) {
      if (Object.hasOwn(fields, key) || isItem && Object.hasOwn(fields, bare(key))) this.#missing.delete(key)
    }
  }

  get fault(): Fault | undefined {
    const [key] = this.#missing
    return key === undefined
      ? undefined
      : { path: `mappings.${excerpt(key)}`, message: "names a key that neither the file nor an item of it has" }
  }
}

const cellOf = (value: unknown) => typeof value === "string" || typeof value === "number" ? String(value) : ""

/** Whether the price's key has prices in these items. */
export const hasPricesIn = (items: ReadonlyArray<Fields>, { inCents, ofField: { price } }: Keys) =>
  price !== undefined &&
  priceColumn({ name: price, cells: items.map((item) => cellOf(own(item, price))) }, inCents).content === "prices"

/** What the keys that are not imported seem to hold. `items` are the first ones of the file, `missing` fields that none has. */
export const examineKeys = (
  unmapped: ReadonlyArray<string>,
  { inCents, ofField }: Keys,
  items: ReadonlyArray<Fields>,
  missing: ReadonlyArray<ItemField>
) => {
  const names = unmapped.filter((name) => name.startsWith(ofItems)).map(bare)
  const columnOf = (name: string) => ({ name, cells: items.map((item) => cellOf(own(item, name))) })
  const others = names.map(columnOf)
  const { mappings, undecided } = suggestMappings([], others, missing)
  const list = items.length > 0 ? undefined : unmapped.find((name) => listNames.includes(plainHeader(name)))
  const priceName = names.find((name) => isPriceTarget(mappings[name])) ??
    (missing.includes("price") ? undefined : ofField.price)
  const leftOut = leftOutPrices({
    others: others.filter(({ name }) => !Object.hasOwn(mappings, name)).map((column) => priceColumn(column)),
    price: priceName === undefined
      ? undefined
      : priceColumn(columnOf(priceName), inCents || mappings[priceName] === "price_cents"),
    undecided,
    entryOf: (at) => {
      const name = excerpt(cellOf(own(items[at] ?? {}, ofField.name ?? "name")))
      return `catalog_items[${at}]${name === "" ? "" : `, "${name}"`}:`
    }
  })
  const suggestion: Suggestion = {
    program: null,
    undecided,
    mappings: list === undefined ? mappings : { [list]: "catalog_items", ...mappings }
  }
  return { leftOut, suggestion }
}

/** A warning for each key that an import does not know, unless its prices are told already. */
export const keyWarnings = (
  unmapped: ReadonlyArray<string>,
  { mappings }: Suggestion,
  told: ReadonlyArray<Warning>
): ReadonlyArray<Warning> =>
  unmapped.filter((name) => !told.some(({ context }) => context === `column ${bare(name)}`)).map((name) => {
    const target = Object.hasOwn(mappings, bare(name)) ? mappings[bare(name)] : undefined
    const hint = target === undefined ? "" : `; if it holds ${target}, pass ${asArgument({ [bare(name)]: target })}`
    return {
      type: "field_skipped",
      context: name,
      message: `${name} is not a field of an import and was left out${hint}`
    }
  })
