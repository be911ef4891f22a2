import { Struct } from "effect"
import { excerpt } from "./cleaning.ts"
import { type Warning } from "./Import.ts"
import { type Beside } from "./several-prices.ts"

interface Line {
  readonly type: Warning["type"]
  readonly one: string
  readonly many: string
  readonly rest: (examples: string) => string
}

/** What is told of many rows in one line. */
const told = {
  hidden: {
    type: "value_coerced",
    one: "is a draft or hidden",
    many: "are drafts or hidden",
    rest: (examples: string) =>
      ` (${examples}): imported as not available. Map that column to ignore to import them as available`
  },
  variations: {
    type: "value_coerced",
    one: "has no name and was imported as a variation",
    many: "have no name and were imported as variations",
    rest: (examples: string) => ` of the item above, such as ${examples}`
  },
  surcharges: {
    type: "value_coerced",
    one: "is a variation with a surcharge",
    many: "are variations with a surcharge",
    rest: (examples: string) =>
      ` on the price of the item above, such as ${examples}; that item has the lowest price, where all are known`
  },
  uncertain: {
    type: "field_skipped",
    one: "has a surcharge, or none, that can't be added to a price",
    many: "have a surcharge, or none, that can't be added to a price",
    rest: (examples: string) =>
      ` (${examples}): imported without a price, as is the item above a variation among them. Write the item's price ` +
      "and each surcharge as amounts in US dollars, such as 5.00 and 0.00"
  },
  lists: {
    type: "field_skipped",
    one: "has what may be more prices in another column",
    many: "have what may be more prices in another column",
    rest: (examples: string) =>
      ` (${examples}): an item has one price. These were left out, and a price of 0 beside them. Write an item for ` +
      "each, such as \"Latte, Large\"; or map that column to ignore where it has no prices"
  },
  collections: {
    type: "value_coerced",
    one: "is a product",
    many: "are products",
    rest: (examples: string) =>
      ` without a price of their own, such as ${examples}: the prices are those of its variations or parts`
  },
  categories: {
    type: "value_coerced",
    one: "has several categories or a path",
    many: "have several categories or a path",
    rest: (examples: string) =>
      `, and an item has one, such as ${examples}: the last of the longest path, else the first`
  },
  details: {
    type: "format_error",
    one: "has neither a name nor a price",
    many: "have neither a name nor a price",
    rest: () => ", but pictures or details of the item above; skipped"
  }
} as const satisfies Readonly<Record<string, Line>>
type Told = keyof typeof told
const kinds = Struct.keys(told)

/** Of more columns nobody is told at once. */
const mostColumns = 20

/** What a message calls the entries of a kind of file. */
const entries = {
  csv: { one: (at: number) => `row ${at}`, all: "rows ", each: String },
  json: { one: (at: number) => `catalog_items[${at}]`, all: "", each: (at: number) => `catalog_items[${at}]` }
} as const

/** Collects what is true of many rows, or items of a JSON file, and tells each in one line with a few examples. */
export class RowLines {
  readonly #entries: typeof entries[keyof typeof entries]
  readonly #noted = new Map<Told, { readonly rows: Array<number>; readonly examples: Set<string> }>()

  readonly #lists = new Set<string>()

  constructor(format: keyof typeof entries) {
    this.#entries = entries[format]
  }

  note(what: Told, row: number, example: string) {
    const noted = this.#noted.get(what) ?? { rows: [], examples: new Set<string>() }
    noted.rows.push(row)
    if (noted.examples.size < 3) noted.examples.add(example)
    this.#noted.set(what, noted)
  }

  /** Prices beside the price of an item. */
  noteList(row: number, item: string, { name, value }: Beside) {
    this.#lists.add(name)
    this.note("lists", row, `"${excerpt(item)}": ${excerpt(name)} "${excerpt(String(value))}"`)
  }

  /** `row 3`, `rows 3, 4 and 7`, `rows 3, 4, 7 and 198 more`. */
  #named(rows: ReadonlyArray<number>) {
    const { all, each, one } = this.#entries
    const shown = rows.slice(0, 3).map(each)
    if (rows.length > 3) return `${all}${shown.join(", ")} and ${rows.length - 3} more`
    return rows.length === 1 ? one(rows[0]!) : `${all}${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`
  }

  #warningOf(what: Told): Warning | undefined {
    const { many, one, rest, type } = told[what]
    const { examples, rows } = this.#noted.get(what) ?? { examples: [], rows: [] }
    const [first] = rows
    if (first === undefined) return undefined
    const words = `${rows.length === 1 ? one : many}${rest([...examples].join(", "))}`
    return { type, context: this.#entries.one(first), message: `${this.#named(rows)} ${words}` }
  }

  get warnings(): ReadonlyArray<Warning> {
    return kinds.flatMap((what) => this.#warningOf(what) ?? [])
  }

  /** Of rows whose prices were left out, because they are not one price each. */
  get lost() {
    const message = (this.#warningOf("uncertain") ?? this.#warningOf("lists"))?.message
    return message === undefined ? undefined : { message, columns: [...this.#lists].slice(0, mostColumns) }
  }
}
