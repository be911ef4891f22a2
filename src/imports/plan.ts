import { TemplateType } from "#src/format/ReadyConfig.ts"
import { optional } from "#src/shared/text.ts"
import { Either, Schema } from "effect"
import { cleanLine, cleanProse, excerpt, longest, tooLong } from "./cleaning.ts"
import { type ItemField } from "./fields.ts"
import { type FieldMapping, limits, type Preview, type SourceFormat, type Warning } from "./Import.ts"
import { type Suggestion } from "./Mappings.ts"
import { type Price } from "./price.ts"

const itemTypes = ["menu_item", "service", "product", "consultation"] as const
const priceTypes = ["fixed", "starting_at", "hourly", "free_estimate"] as const

/** An item as a confirm will write it. */
const PlannedItem = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  itemType: Schema.Literal(...itemTypes),
  priceCents: Schema.NullOr(Schema.Int),
  priceType: Schema.Literal(...priceTypes),
  category: Schema.NullOr(Schema.String)
})

/** The columns of the business that a JSON import sets, as far as the file has them. */
const PlannedBusiness = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  industry: optional(Schema.String),
  templateType: optional(TemplateType),
  website: optional(Schema.String),
  phone: optional(Schema.String),
  city: optional(Schema.String),
  state: optional(Schema.String),
  zip: optional(Schema.String),
  customFields: optional(Schema.Record({ key: Schema.String, value: Schema.String }))
})
export type PlannedBusiness = typeof PlannedBusiness.Type

/** What a preview stores for the confirm. */
export const Plan = Schema.Struct({ business: Schema.NullOr(PlannedBusiness), items: Schema.Array(PlannedItem) })
export type Plan = typeof Plan.Type

/** A parsed file: the plan, and what the preview reports about it. */
export interface Reading {
  readonly format: SourceFormat
  readonly encoding: Preview["encoding"]
  readonly delimiter: Preview["delimiter"]
  readonly plan: Plan
  readonly mappings: ReadonlyArray<FieldMapping>
  readonly unmapped: ReadonlyArray<string>
  readonly suggestion: Suggestion
  readonly warnings: ReadonlyArray<Warning>
  readonly warningsTotal: number
  readonly rows: number
}

/** Why the whole file can't be used, and where. */
export interface Fault {
  readonly path: string
  readonly message: string
  /** When other columns would do: all of the file's, and which may be meant. */
  readonly choice?: { readonly columns: ReadonlyArray<string>; readonly suggestion: Suggestion }
}

export const fault = (path: string, message: string, choice?: Fault["choice"]): Either.Either<never, Fault> =>
  Either.left({ path, message, ...(choice === undefined ? {} : { choice }) })

/** Describes a place in the file, by field. */
export type Where = (field?: ItemField) => string

/** One item's fields, unvalidated except for the price, which each format parses by its own rules. */
export interface RawItem {
  readonly text: Readonly<Partial<Record<Exclude<ItemField, "price">, unknown>>>
  readonly price: Price | null
}

/** Of a file, in an answer. */
export const mostWarnings = 1000
/** Maximum of rows or items to check for importable ones; those after are only counted. */
export const mostRows = 20 * limits.items

/** Collects items, warnings and mappings while a file is parsed. */
export class Draft {
  readonly items: Array<typeof PlannedItem.Type> = []
  readonly warnings: Array<Warning> = []
  warningsTotal = 0
  rows = 0
  #uncounted = 0
  /** The name of the current item. */
  #item = ""
  readonly #mappings = new Map<string, FieldMapping>()

  /** The message is the place, the item's name, then `why`. */
  warn(type: Warning["type"], context: string, why: string, item = this.#item) {
    this.warningsTotal++
    if (this.warnings.length >= mostWarnings) return
    const name = excerpt(item)
    this.warnings.push({ type, message: `${context}${name === "" ? "" : ` ("${name}")`} ${why}`, context })
  }

  /** Maps a field of the file to its target, with the first value as the sample. */
  map(source: string, target: string, sample?: unknown) {
    const existing = this.#mappings.get(source)
    if (existing?.sample_value !== undefined) return
    const text = typeof sample === "string" || typeof sample === "number" ? excerpt(String(sample)) : ""
    const mapping = { source_field: source, target_field: target }
    this.#mappings.set(source, text === "" ? mapping : { ...mapping, sample_value: text })
  }

  get mappings() {
    return [...this.#mappings.values()]
  }

  /** Whether further rows are only counted. */
  get isFull() {
    return this.items.length >= limits.items || this.rows >= mostRows
  }

  /** Counts entries beyond the limits. */
  count(entries = 1) {
    this.#uncounted += entries
    this.rows += entries
  }

  /** Adds one warning for all entries that were only counted. */
  finish(context: string) {
    if (this.#uncounted === 0) return
    const why = this.items.length >= limits.items
      ? `has more than ${limits.items} items; those after were dropped`
      : "has more entries than the limit; the rest was left out"
    this.warn("limit_truncated", context, why)
  }

  /** One cleaned line; undefined when it is missing, or unusable, then with a warning. */
  line(value: unknown, where: string, most: number = longest.name): string | undefined {
    return this.#text(value, where, most, cleanLine)
  }

  prose(value: unknown, where: string): string | undefined {
    return this.#text(value, where, longest.prose, cleanProse)
  }

  #text(value: unknown, where: string, most: number, clean: typeof cleanLine) {
    if (value === undefined || value === null) return undefined
    if (typeof value !== "string") return this.#skip(where, "is not text")
    const { changed, text } = clean(value)
    if (text === "") return undefined
    if (tooLong(text, most)) return this.#skip(where, `is longer than ${most} characters`)
    if (changed) this.warn("value_coerced", where, "had characters that can't be stored; they were removed")
    return text
  }

  #skip(where: string, message: string) {
    this.warn("field_skipped", where, `${message}; skipped`)
    return undefined
  }

  #choice<const Choice extends string>(value: unknown, where: string, choices: ReadonlyArray<Choice>, usual: Choice) {
    if (value === undefined || value === null || value === "") return usual
    const match = choices.find((choice) => choice === value)
    if (match !== undefined) return match
    this.warn("value_coerced", where, `is not one of ${choices.join(", ")}; ${usual} was used`)
    return usual
  }

  /** Adds an item to the plan, or a warning why it is skipped. */
  add({ price, text }: RawItem, where: Where) {
    this.rows++
    const { changed, text: name } = typeof text.name === "string" ? cleanLine(text.name) : { changed: false, text: "" }
    if (name === "") {
      const why = typeof text.name === "string" || text.name === undefined
        ? "has no name"
        : "has a name that is not text"
      return this.warn("format_error", where(), `${why}; skipped`)
    }
    if (tooLong(name, longest.name)) {
      const why = `is longer than ${longest.name} characters; the item was skipped`
      return this.warn("format_error", where("name"), why, name)
    }
    this.#item = name
    if (changed) {
      this.warn("value_coerced", where("name"), "had characters that can't be stored; they were removed")
    }
    if (price !== null && Either.isLeft(price)) this.#skip(where("price"), price.left)
    this.items.push({
      name,
      description: this.prose(text.description, where("description")) ?? "",
      itemType: this.#choice(text.item_type, where("item_type"), itemTypes, "product"),
      priceCents: price === null ? null : Either.getOrElse(price, () => null),
      priceType: this.#choice(text.price_type, where("price_type"), priceTypes, "fixed"),
      category: this.line(text.category, where("category")) ?? null
    })
    this.#item = ""
  }
}

/** The categories that the items name, in the file's order. */
export const categoriesOf = ({ items }: Plan): ReadonlyArray<string> => [
  ...new Set(items.flatMap(({ category }) => category ?? []))
]
