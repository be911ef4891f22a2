import { Either } from "effect"
import { isCategoryList, oneCategory } from "./category-lists.ts"
import { excerpt } from "./cleaning.ts"
import { fieldOf, mostNamed } from "./columns.ts"
import { type Header, nameAt } from "./csv-header.ts"
import { foreignByColumn, inCurrency } from "./currency.ts"
import { type Draft } from "./Draft.ts"
import { type ItemField } from "./fields.ts"
import { markingIn } from "./hidden-rows.ts"
import { isHtml, textOfHtml } from "./html-text.ts"
import { type RawItem } from "./plan.ts"
import { priceOfCents } from "./price-cents.ts"
import { writtenPrice } from "./price-words.ts"
import { RowLines } from "./row-lines.ts"
import { listWhy, mayBeList, orSeveral, priceBeside, pricesBeside } from "./several-prices.ts"
import { Surcharges } from "./surcharges.ts"
import { type Kind, type Parent, Variants } from "./variants.ts"
import { withVariation } from "./variation.ts"

const foreignIn = (cells: ReadonlyArray<string>, header: Header) =>
  header.currency === undefined ? undefined : foreignByColumn(nameAt(header, header.currency), cells[header.currency])

/** Makes the items of the rows of a CSV file, and tells in a line each what is true of many of them. */
export class CsvItems {
  readonly #draft: Draft
  readonly #header: Header
  readonly #variants: Variants
  /** Whether the file has columns beside the contract's: without them its categories are taken to the letter. */
  readonly #hasOthers: boolean
  readonly #isList: boolean
  /** The columns that nothing is taken from. */
  readonly #beside: ReadonlyArray<number>
  readonly #lines = new RowLines("csv")
  readonly #surcharges: Surcharges

  constructor(draft: Draft, header: Header) {
    this.#draft = draft
    this.#header = header
    this.#variants = new Variants(header)
    this.#surcharges = new Surcharges(draft)
    this.#hasOthers = header.names.some((name) => name.trim() !== "" && fieldOf(name) === undefined)
    const { byField, ignored, markings, names, surcharge } = header
    const taken = new Set([...byField.values(), ...ignored, ...markings.map(({ at }) => at), surcharge])
    this.#beside = names.slice(0, mostNamed).flatMap((_, at) => taken.has(at) ? [] : [at])
    this.#isList = isCategoryList(header.names[header.byField.get("category") ?? -1] ?? "")
  }

  #category(cell: string | undefined, row: number) {
    if (cell === undefined || !this.#hasOthers) return cell
    const category = oneCategory(cell, this.#isList)
    if (category !== cell.trim()) this.#lines.note("categories", row, `"${excerpt(category)}" of "${excerpt(cell)}"`)
    return category
  }

  /** The price of a cell; null when that is empty. */
  #priceIn(cells: ReadonlyArray<string>, at: number | undefined): RawItem["price"] {
    const { decimal, foreign, forms, hasCommas, inCents } = this.#header
    const cell = cells[at ?? -1]?.trim() ?? ""
    if (cell === "") return null
    if (mayBeList(cell, cells, forms) && !(hasCommas && cell.includes(","))) return Either.left(listWhy)
    const written = inCents ? Either.map(priceOfCents(cell), (cents) => ({ cents })) : writtenPrice(cell, decimal)
    return inCurrency(orSeveral(cell)(written), foreign ?? foreignIn(cells, this.#header))
  }

  #itemOf(cells: ReadonlyArray<string>, row: number, parent: Parent | undefined): RawItem {
    const { byField, surcharge, variation } = this.#header
    const cell = (field: ItemField) => {
      const at = byField.get(field)
      return at === undefined ? undefined : cells[at] ?? ""
    }
    const price = this.#priceIn(cells, byField.get("price"))
    const description = cell("description") ?? ""
    return {
      price: surcharge === undefined
        ? price
        : this.#surcharges.priceOf(price, this.#priceIn(cells, surcharge), parent),
      priceValue: cell("price")?.trim() ?? "",
      rest: cells.filter((cell, at) => at !== byField.get("name") && cell.trim() !== "").join(", ").slice(0, 400),
      text: {
        name: withVariation(cell("name"), cells[variation ?? -1]),
        description: isHtml(description) ? textOfHtml(description) : description,
        category: this.#category(cell("category"), row),
        item_type: cell("item_type"),
        price_type: cell("price_type")
      }
    }
  }

  /** A variation has the category of its parent, and is hidden with it; the parent's name says its own form from now on. */
  #variationOf(raw: RawItem, { option, parent }: Extract<Kind, { kind: "variation" }>): RawItem {
    const above = parent.at === undefined ? undefined : this.#draft.items[parent.at]
    const isForm = this.#header.surcharge === undefined
    if (isForm && parent.at !== undefined && above?.name === parent.name && above.priceCents !== null) {
      this.#draft.rename(parent.at, String(withVariation(parent.name, parent.option)))
    }
    const category = typeof raw.text.category === "string" && raw.text.category.trim() !== ""
      ? raw.text.category
      : above?.category ?? undefined
    return {
      ...raw,
      ...(above?.isAvailable === false ? { isAvailable: false } : {}),
      text: { ...raw.text, name: withVariation(parent.name, option) ?? parent.name, category }
    }
  }

  #noteSurcharge(cells: ReadonlyArray<string>, row: number, at: number, { price }: RawItem, parent?: Parent) {
    this.#surcharges.see(at, price, parent)
    const { name = "", priceCents = null } = this.#draft.items[at] ?? {}
    const surcharge = cells[this.#header.surcharge ?? -1]?.trim() ?? ""
    if (price !== null && parent !== undefined) {
      this.#lines.note("surcharges", row, `"${excerpt(name)}" ${((priceCents ?? 0) / 100).toFixed(2)}`)
    } else if (price === null && (parent !== undefined || surcharge !== "")) {
      this.#lines.note("uncertain", row, `"${excerpt(name)}" ${surcharge === "" ? "none" : `"${excerpt(surcharge)}"`}`)
    }
  }

  /** Adds the item of a row, or what the row says of the item above. */
  add(cells: ReadonlyArray<string>, row: number) {
    const entry = `row ${row}`
    const kind = this.#variants.of(cells)
    if (kind.kind === "details") {
      this.#draft.rows++
      return this.#lines.note("details", row, "")
    }
    const marking = markingIn(cells, this.#header.markings)
    const parent = kind.kind === "variation" ? kind.parent : undefined
    const written = this.#itemOf(cells, row, parent)
    const hasName = (parent?.name ?? written.text.name) !== ""
    const columns = hasName ? this.#beside.map((at) => ({ name: nameAt(this.#header, at), value: cells[at] })) : []
    const beside = pricesBeside(columns, written.price)
    const plain = { ...written, price: priceBeside(written.price, beside) }
    const raw = kind.kind === "variation" ? this.#variationOf(plain, kind) : plain
    const isHidden = marking !== undefined || raw.isAvailable === false
    const at = this.#draft.add(isHidden ? { ...raw, isAvailable: false } : raw, {
      entry,
      of: (field) => `${entry}, column ${field}`
    })
    if (kind.kind === "item") this.#variants.see(cells, at)
    if (at === undefined) return
    const item = this.#draft.items[at]
    if (beside !== undefined) this.#lines.noteList(row, item?.name ?? "", beside)
    if (isHidden) this.#lines.note("hidden", row, marking ?? "with the item above")
    if (this.#header.surcharge !== undefined) this.#noteSurcharge(cells, row, at, raw, parent)
    else if (parent !== undefined) this.#lines.note("variations", row, `"${excerpt(item?.name ?? "")}"`)
    const collection = item?.priceCents === null ? this.#variants.collection(cells) : undefined
    if (collection !== undefined) this.#lines.note("collections", row, `"${excerpt(item?.name ?? "")}" (${collection})`)
  }

  /** Gives variations that have a name of their own the category of their parent, and tells of many rows in a line each. */
  finish() {
    for (const [child, parent] of this.#variants.families()) {
      const category = this.#draft.items[parent]?.category
      if (this.#draft.items[child]?.category === null && category != null) this.#draft.change(child, { category })
    }
    this.#surcharges.finish()
    const { lost, warnings } = this.#lines
    return { lost, warnings }
  }
}
