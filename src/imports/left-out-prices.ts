import { Either } from "effect"
import { excerpt } from "./cleaning.ts"
import { fieldOf, mostNamed, plainName } from "./columns.ts"
import { type Header } from "./csv-header.ts"
import { plainHeader, priceKind } from "./header-words.ts"
import { type Warning } from "./Import.ts"
import { writtenPrice } from "./price-words.ts"
import { foreignWhy } from "./price.ts"
import { asArgument } from "./unmapped-columns.ts"

interface Column {
  readonly at: number
  readonly name: string
  readonly isForeign: boolean
}

/** Columns of a CSV file that are not imported and have prices, each with the first of them. */
export class LeftOutPrices {
  readonly #header: Header
  #unseen: ReadonlyArray<Column>
  readonly #seen: Array<Column & { readonly example: string }> = []

  constructor(header: Header) {
    const { byField, ignored, names, samples, variation } = header
    const others = new Set([...byField.values(), ...ignored, variation])
    this.#header = header
    this.#unseen = names.slice(0, mostNamed).flatMap((raw, at) => {
      const name = others.has(at) || fieldOf(raw) !== undefined ? undefined : plainName(raw)
      const kind = name === undefined
        ? undefined
        : priceKind(plainHeader(name), samples.map((cells) => cells[at] ?? ""))
      return name === undefined || kind === undefined ? [] : [{ at, name, isForeign: kind === "foreign" }]
    })
  }

  see(cells: ReadonlyArray<string>) {
    if (this.#unseen.length === 0) return
    this.#unseen = this.#unseen.filter((column) => {
      const text = cells[column.at]?.trim() ?? ""
      if (!/[1-9]/.test(text)) return true
      const price = column.isForeign ? undefined : writtenPrice(text, this.#header.decimal)
      if (price !== undefined && Either.isLeft(price)) return true
      this.#seen.push({ ...column, example: excerpt(text) })
      return false
    })
  }

  /** Those that aren't suggested as the price, in the file's order. */
  #others(suggested: ReadonlySet<string>) {
    return this.#seen.filter(({ name }) => !suggested.has(name)).toSorted((a, b) => a.at - b.at)
  }

  warnings(suggested: ReadonlySet<string>): ReadonlyArray<Warning> {
    return this.#others(suggested).map(({ example, isForeign, name }) => {
      const why = isForeign
        ? `was left out: its "${example}" ${foreignWhy}`
        : `was left out and may have prices too, such as "${example}"; an item has one price. Give each price a row of ` +
          `its own, or pass ${asArgument({ [name]: "ignore" })}`
      return { type: "field_skipped", context: `column ${name}`, message: `column ${name} ${why}` }
    })
  }

  /** The first column in another currency. */
  foreign(suggested: ReadonlySet<string>) {
    return this.#others(suggested).find(({ isForeign }) => isForeign)
  }
}
