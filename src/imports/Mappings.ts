import { failsWith, Invalid, sentence } from "#src/shared/Failure.ts"
import { Schema } from "effect"
import { itemFields } from "./fields.ts"

/**
 * `price_cents`: whole cents. `variation`: the form of an item, which is joined to its name. `catalog_items`: the list of
 * items of a JSON file. `ignore`: leave the column out.
 */
const targets = [...itemFields, "price_cents", "variation", "catalog_items", "ignore"] as const
export const Target = Schema.Literal(...targets)
export type Target = typeof Target.Type

const mostMappings = 100

/** Fields that two columns are mapped to, by the second. */
const repeated = (mappings: Readonly<Record<string, Target>>) => {
  const columns = new Map<string, string>()
  return Object.entries(mappings).flatMap(([column, target]) => {
    const field = target === "price_cents" ? "price" : target
    const first = columns.get(field)
    columns.set(field, column)
    return first === undefined || target === "ignore"
      ? []
      : [{ path: [column], message: `is mapped to ${target}, as ${JSON.stringify(first)} is already` }]
  })
}

/** Which column of a file holds which field; it goes before what the column's name says. */
export const Mappings = Schema.Record({ key: Schema.String, value: Target }).pipe(
  Schema.filter(
    (mappings) => Object.keys(mappings).length <= mostMappings || `must have at most ${mostMappings} entries`,
    { jsonSchema: {} }
  ),
  Schema.filter(repeated, { jsonSchema: {} })
).annotations({
  description:
    "Which column holds which field, such as {\"Price (USD)\":\"price\"}; pass back suggested_mappings when " +
    "they are right. price is in dollars, price_cents in whole cents; variation is joined to the name (Latte, Small); " +
    "ignore leaves a column out. In a JSON file a column is a key of the items, and catalog_items the key that has their list"
})
export type Mappings = typeof Mappings.Type

export const isPriceTarget = (target: Target | undefined) => target === "price" || target === "price_cents"

/** The argument as the caller may pass it. */
export const asArgument = (mappings: Mappings) => `mappings ${JSON.stringify(mappings)}`

export const SuggestedMappings = Schema.Record({ key: Schema.String, value: Target }).annotations({
  description: "Columns that are not imported and seem to hold a field that is missing: fit to be passed back as " +
    "mappings, once they are checked"
})

export const SourceProgram = Schema.NullOr(Schema.String).annotations({
  description: "The program that wrote the file, when its columns tell: Square, Shopify, Toast, …"
})

export const PriceCandidates = Schema.Array(Schema.String).annotations({
  description:
    "Columns of which one may be the price, and none is suggested because they have other prices in the same " +
    "rows: ask which one customers pay, map it to price and the others to ignore"
})

export interface Suggestion {
  readonly program: typeof SourceProgram.Type
  readonly mappings: typeof SuggestedMappings.Type
  readonly undecided: typeof PriceCandidates.Type
}

/** The columns of a file don't give what is needed. Details say all of them, and which may be meant. */
export class ColumnsNotMapped extends Schema.TaggedError<ColumnsNotMapped>()("ColumnsNotMapped", {
  issues: Invalid.fields.issues,
  columns: Schema.Array(Schema.String),
  suggested_mappings: SuggestedMappings,
  price_candidates: PriceCandidates,
  source_program: SourceProgram
}, failsWith(422)) {
  override get message() {
    return sentence(this.issues)
  }
  get details() {
    const { columns, issues, price_candidates, source_program, suggested_mappings } = this
    return { issues, columns, suggested_mappings, price_candidates, source_program }
  }
}
