import { TemplateType } from "#src/format/ReadyConfig.ts"
import { optional } from "#src/shared/text.ts"
import { Either, Schema } from "effect"
import { type ItemField } from "./fields.ts"
import { type FieldMapping, limits, type Preview, type SourceFormat, type Warning } from "./Import.ts"
import { type Suggestion } from "./Mappings.ts"
import { type WrittenPrice } from "./price-words.ts"

export const itemTypes = ["menu_item", "service", "product", "consultation"] as const
export const priceTypes = ["fixed", "starting_at", "hourly", "free_estimate"] as const

/** An item as a confirm will write it. */
export const PlannedItem = Schema.Struct({
  name: Schema.String,
  description: Schema.String,
  itemType: Schema.Literal(...itemTypes),
  priceCents: Schema.NullOr(Schema.Int),
  priceType: Schema.Literal(...priceTypes),
  category: Schema.NullOr(Schema.String),
  /** False for a draft or a hidden item; true without it. */
  isAvailable: optional(Schema.Boolean)
})
export type PlannedItem = typeof PlannedItem.Type

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
export const Plan = Schema.Struct({
  business: Schema.NullOr(PlannedBusiness),
  items: Schema.Array(PlannedItem),
  /** What the limits left out of it, in sentences. */
  leftOut: optional(Schema.Array(Schema.String))
})
export type Plan = typeof Plan.Type

/** What an import would lose although a catalog is of little use without it, and what to do. */
export interface Loss {
  readonly path: string
  readonly message: string
}

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
  readonly loss: Loss | undefined
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

/** An entry of the file, and the fields in it. */
export interface Place {
  /** `row 2`, or `catalog_items[1]`. */
  readonly entry: string
  /** `row 2, column price`, or `catalog_items[1].price`. */
  readonly of: (field: ItemField) => string
}

/** One item's fields, unvalidated except for the price, which each format parses by its own rules. */
export interface RawItem {
  readonly text: Readonly<Partial<Record<Exclude<ItemField, "price">, unknown>>>
  readonly price: Either.Either<WrittenPrice, string> | null
  /** The price as the file has it. */
  readonly priceValue: unknown
  /** False for a draft or a hidden item. */
  readonly isAvailable?: boolean
  /** The other cells of the row, to recognise it by when it has no name. */
  readonly rest?: string
}

/** Of a file, in an answer. */
export const mostWarnings = 1000
/** Maximum of rows or items to check for importable ones; those after are only counted. */
export const mostRows = 20 * limits.items

/** The categories that the items name, in the file's order. */
export const categoriesOf = ({ items }: Plan): ReadonlyArray<string> => [
  ...new Set(items.flatMap(({ category }) => category ?? []))
]
