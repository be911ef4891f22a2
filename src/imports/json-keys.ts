import { excerpt } from "./cleaning.ts"
import { type ItemField, itemFields } from "./fields.ts"
import { plainHeader } from "./header-words.ts"
import { type Warning } from "./Import.ts"
import { type Mappings, type Suggestion } from "./Mappings.ts"
import { type Fault } from "./plan.ts"
import { suggestMappings } from "./suggest-mappings.ts"
import { asArgument } from "./unmapped-columns.ts"

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

const bare = (key: string) => key.startsWith(ofItems) ? key.slice(ofItems.length) : key

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

/** Which of the keys that are not imported seem to hold a field that no item has, or the list of items. */
export const suggestKeys = (
  unmapped: ReadonlyArray<string>,
  missing: ReadonlyArray<ItemField>,
  hasItems: boolean
): Suggestion => {
  const names = unmapped.filter((name) => name.startsWith(ofItems)).map(bare)
  const { mappings, undecided } = suggestMappings([], names.map((name) => ({ name })), missing)
  const list = hasItems ? undefined : unmapped.find((name) => listNames.includes(plainHeader(name)))
  return {
    program: null,
    undecided,
    mappings: list === undefined ? mappings : { [list]: "catalog_items", ...mappings }
  }
}

/** A warning for each key that an import does not know. */
export const keyWarnings = (unmapped: ReadonlyArray<string>, { mappings }: Suggestion): ReadonlyArray<Warning> =>
  unmapped.map((name) => {
    const target = Object.hasOwn(mappings, bare(name)) ? mappings[bare(name)] : undefined
    const hint = target === undefined ? "" : `; if it holds ${target}, pass ${asArgument({ [bare(name)]: target })}`
    return {
      type: "field_skipped",
      context: name,
      message: `${name} is not a field of an import and was left out${hint}`
    }
  })
