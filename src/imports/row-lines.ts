import { type Warning } from "./Import.ts"

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
} as const satisfies Record<string, {
  readonly type: Warning["type"]
  readonly one: string
  readonly many: string
  readonly rest: (examples: string) => string
}>
type Told = keyof typeof told

/** What a message calls the entries of a kind of file. */
const entries = {
  csv: { one: (at: number) => `row ${at}`, all: "rows ", each: String },
  json: { one: (at: number) => `catalog_items[${at}]`, all: "", each: (at: number) => `catalog_items[${at}]` }
} as const

/** Collects what is true of many rows, or items of a JSON file, and tells each in one line with a few examples. */
export class RowLines {
  readonly #entries: typeof entries[keyof typeof entries]
  readonly #noted = new Map<Told, { readonly rows: Array<number>; readonly examples: Set<string> }>()

  constructor(format: keyof typeof entries) {
    this.#entries = entries[format]
  }

  note(what: Told, row: number, example: string) {
    const noted = this.#noted.get(what) ?? { rows: [], examples: new Set<string>() }
    noted.rows.push(row)
    if (noted.examples.size < 3) noted.examples.add(example)
    this.#noted.set(what, noted)
  }

  /** `row 3`, `rows 3, 4 and 7`, `rows 3, 4, 7 and 198 more`. */
  #named(rows: ReadonlyArray<number>) {
    const { all, each, one } = this.#entries
    const shown = rows.slice(0, 3).map(each)
    if (rows.length > 3) return `${all}${shown.join(", ")} and ${rows.length - 3} more`
    return rows.length === 1 ? one(rows[0]!) : `${all}${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`
  }

  get warnings(): ReadonlyArray<Warning> {
    return Object.entries(told).flatMap(([what, { many, one, rest, type }]) => {
      const { examples, rows } = this.#noted.get(what as Told) ?? { examples: [], rows: [] }
      const [first] = rows
      if (first === undefined) return []
      const words = `${rows.length === 1 ? one : many}${rest([...examples].join(", "))}`
      return [{ type, context: this.#entries.one(first), message: `${this.#named(rows)} ${words}` }]
    })
  }
}
