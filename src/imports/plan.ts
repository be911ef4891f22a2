import { TemplateType } from "#src/format/ReadyConfig.ts"
import { optional } from "#src/shared/text.ts"
import { Either, Schema } from "effect"
import { cleanLine, cleanProse, excerpt, longest, tooLong } from "./cleaning.ts"
import { type FieldMapping, limits, type Preview, type SourceFormat, type Warning } from "./Import.ts"
import { type Price } from "./price.ts"

const itemTypes = ["menu_item", "service", "product", "consultation"] as const
const priceTypes = ["fixed", "starting_at", "hourly", "free_estimate"] as const

/** An item as a confirm writes it. */
const PlannedItem = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  itemType: Schema.Literal(...itemTypes),
  priceCents: Schema.NullOr(Schema.Int),
  priceType: Schema.Literal(...priceTypes),
  category: Schema.NullOr(Schema.String)
})

/** The columns of the business that a JSON import sets: those that the file gives. */
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

/** What is stored until the confirm. */
export const Plan = Schema.Struct({ business: Schema.NullOr(PlannedBusiness), items: Schema.Array(PlannedItem) })
export type Plan = typeof Plan.Type

/** A file, read: the plan and what its owner is told of it. */
export interface Reading {
  readonly format: SourceFormat
  readonly encoding: Preview["encoding"]
  readonly delimiter: Preview["delimiter"]
  readonly plan: Plan
  readonly mappings: ReadonlyArray<FieldMapping>
  readonly unmapped: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<Warning>
  readonly warningsTotal: number
  readonly rows: number
}

/** The whole file can't be used: where, and why. */
export interface Fault {
  readonly path: string
  readonly message: string
}

export const fault = (path: string, message: string): Either.Either<never, Fault> => Either.left({ path, message })

/** Where something is in the file, by its field. */
export type Where = (field?: ItemField) => string

export const itemFields = ["name", "description", "price", "price_type", "item_type", "category"] as const
export type ItemField = typeof itemFields[number]

/** One item's fields, as text but for the price, which each format reads by its own rules. */
export interface RawItem {
  readonly text: Readonly<Partial<Record<Exclude<ItemField, "price">, unknown>>>
  readonly price: Price | null
}

const mostWarnings = 1000
/** Rows or items that are looked at in search of importable ones; what comes after is only counted. */
export const mostRows = 20 * limits.items

/** Collects what a file gives, as it is read. */
export class Draft {
  readonly items: Array<typeof PlannedItem.Type> = []
  readonly warnings: Array<Warning> = []
  warningsTotal = 0
  rows = 0
  #uncounted = 0
  /** The item that is being planned. */
  #item = ""
  readonly #mappings = new Map<string, FieldMapping>()

  /** `why` goes on from the place and the item's name, which the message has too. */
  warn(type: Warning["type"], context: string, why: string, item = this.#item) {
    this.warningsTotal++
    if (this.warnings.length >= mostWarnings) return
    const name = excerpt(item)
    this.warnings.push({ type, message: `${context}${name === "" ? "" : ` ("${name}")`} ${why}`, context })
  }

  /** A field of the file and what it becomes, with the first value that is there. */
  map(source: string, target: string, sample?: unknown) {
    const known = this.#mappings.get(source)
    if (known?.sample_value !== undefined) return
    const text = typeof sample === "string" || typeof sample === "number" ? excerpt(String(sample)) : ""
    const mapping = { source_field: source, target_field: target }
    this.#mappings.set(source, text === "" ? mapping : { ...mapping, sample_value: text })
  }

  get mappings() {
    return [...this.#mappings.values()]
  }

  /** Whether another row need only be counted. */
  get isFull() {
    return this.items.length >= limits.items || this.rows >= mostRows
  }

  /** Entries that are beyond the limits. */
  count(entries = 1) {
    this.#uncounted += entries
    this.rows += entries
  }

  /** Tells once of what was only counted. */
  finish(whole: string) {
    if (this.#uncounted === 0) return
    const why = this.items.length >= limits.items
      ? `has more than ${limits.items} items; those after were dropped`
      : "has more entries than are looked at; the rest was left out"
    this.warn("limit_truncated", whole, why)
  }

  /** One line, cleaned; undefined when it is not there or of no use, which is told. */
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
    const found = choices.find((choice) => choice === value)
    if (found !== undefined) return found
    this.warn("value_coerced", where, `is not one of ${choices.join(", ")}; ${usual} was used`)
    return usual
  }

  /** Plans an item, or tells why it is skipped. */
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
