import { type Header } from "./csv-header.ts"
import { find, handles, hasFamilies, parents } from "./families.ts"
import { plainHeader } from "./header-words.ts"
import { isVariation } from "./variation.ts"

/** Of Wix, whose variations may repeat the name of their item. */
const variant = "variant"
const types = new Set(["type", "typ", "tipo", "тип", "product type", "field type"])
const ids = new Set(["id", "product id"])
const skus = new Set(["sku", "artikelnummer", "ref", "артикул"])
/** `Option1 Value`, `Opción 1 valor`, `productOptionDescription1`, `Attribute 1 value(s)`. */
const option =
  /^(?:option|opción|opcion|opzione|opção|opcao|optie|opcja|опция|オプション|옵션|选项|選項|attribute|attribut|atributo|attributo)\s?\d\s?(?:values?|value s|valor|valores|wert|werte|valeurs?|valore|valori|waarde|wartość|значение|値|값|值)$|^product option description\s?\d$|^(?:wert|valeur|valeurs|valor|valore) (?:der |de l |de la |del )?(?:option|opción|opzione|attribut) \d$/u

type Key = "handle" | "parent" | "type" | "id" | "sku" | "name" | "price" | "surcharge"

/** An item of the file, as its variations see it. */
export interface Parent {
  /** The name without its own option. */
  readonly name: string
  /** Its place among the items; undefined when it was not imported. */
  readonly at: number | undefined
  readonly option: string | undefined
}

export type Kind =
  | { readonly kind: "item" }
  /** A row without a name that is a form of an item above. */
  | { readonly kind: "variation"; readonly parent: Parent; readonly option: string | undefined }
  /** A row without name and price that has more of the item above, such as pictures. */
  | { readonly kind: "details" }

/** The columns that name the form of a variation, in a file whose rows say which item they belong to. */
export const optionColumns = ({ names, variation }: Pick<Header, "names" | "variation">): ReadonlyArray<number> => {
  if (variation !== undefined) return [variation]
  return hasFamilies(names) ? names.flatMap((name, at) => option.test(plainHeader(name)) ? [at] : []) : []
}

/** Which rows of a file are forms of an item above them: by a handle in each, or by the id or SKU of a parent. */
export class Variants {
  readonly #at: Readonly<Record<Key, number>>
  readonly #options: ReadonlyArray<number>
  readonly #byKey = new Map<string, Parent>()
  readonly #children: Array<readonly [at: number, parent: string]> = []
  #handle = ""
  #above: Parent | undefined

  constructor({ byField, names, surcharge = -1, variation }: Header) {
    this.#at = {
      handle: find(names, handles),
      parent: find(names, parents),
      type: find(names, types),
      id: find(names, ids),
      sku: find(names, skus),
      name: byField.get("name") ?? -1,
      price: byField.get("price") ?? -1,
      surcharge
    }
    this.#options = optionColumns({ names, variation })
  }

  #cell(cells: ReadonlyArray<string>, column: Key) {
    return cells[this.#at[column]]?.trim() ?? ""
  }

  /** `L / Red`; undefined when the row names no form. */
  #option(cells: ReadonlyArray<string>) {
    const values = this.#options.map((at) => cells[at]?.trim() ?? "").filter(isVariation)
    return values.length === 0 ? undefined : values.join(" / ")
  }

  #parentKey(cells: ReadonlyArray<string>) {
    return this.#cell(cells, "parent").replace(/^id:\s*/i, "id:")
  }

  /** The item that a row belongs to; undefined when it stands alone. */
  #parentOf(cells: ReadonlyArray<string>) {
    const parent = this.#parentKey(cells)
    if (parent !== "") return this.#byKey.get(parent)
    const handle = this.#cell(cells, "handle")
    return handle !== "" && handle === this.#handle ? this.#above : undefined
  }

  /** What a row is to those above it. */
  of(cells: ReadonlyArray<string>): Kind {
    const isVariant = this.#at.surcharge >= 0 && this.#cell(cells, "type").toLowerCase() === variant
    if (this.#cell(cells, "name") !== "" && !isVariant) return { kind: "item" }
    const parent = this.#parentOf(cells)
    if (parent === undefined) return { kind: "item" }
    const option = this.#option(cells)
    const isPriced = this.#cell(cells, "price") !== "" || this.#cell(cells, "surcharge") !== ""
    const isForm = isVariant || (this.#at.price < 0 ? option !== undefined : isPriced)
    return isForm ? { kind: "variation", parent, option } : { kind: "details" }
  }

  /** Remembers a row with a name, for those below it. `at` is the place of its item. */
  see(cells: ReadonlyArray<string>, at: number | undefined) {
    const option = this.#option(cells)
    // A cell with all forms in it is a list of them, and not the form of this row.
    const own = option === undefined || /[;|]/.test(option) ? undefined : option
    const parent = { name: this.#cell(cells, "name"), at, option: own }
    this.#handle = this.#cell(cells, "handle")
    this.#above = parent
    if (this.#at.parent < 0) return
    const key = this.#parentKey(cells)
    if (key !== "" && at !== undefined) this.#children.push([at, key])
    const [id, sku] = [this.#cell(cells, "id"), this.#cell(cells, "sku")]
    if (id !== "") this.#byKey.set(`id:${id}`, parent)
    if (sku !== "") this.#byKey.set(sku, parent)
  }

  /** The places of items that have a name of their own and a parent, and of their parents, which may come after them. */
  families(): ReadonlyArray<readonly [child: number, parent: number]> {
    return this.#children.flatMap(([child, key]) => {
      const parent = this.#byKey.get(key)?.at
      return parent === undefined ? [] : [[child, parent] as const]
    })
  }

  /** What a row without a price says that its prices are: those of its variations, or of its parts. */
  collection(cells: ReadonlyArray<string>) {
    const type = this.#cell(cells, "type").toLowerCase()
    return ["variable", "grouped", "configurable", "bundle"].find((word) => type.split(/[\s,]+/).includes(word))
  }
}
