import { Schema } from "effect"

const Value = Schema.Struct({ value: Schema.String, count: Schema.Int })

/** The values that the listings of a search have: at most 50 of each, the most frequent first. */
export const Facets = Schema.Struct({
  total: Schema.Int,
  categories: Schema.Array(Value).annotations({ description: "For the filter category" }),
  kinds: Schema.Array(Value).annotations({ description: "Template types and industries, for the filter templateType" }),
  cities: Schema.Array(Schema.Struct({ city: Schema.String, state: Schema.String, count: Schema.Int }))
}).annotations({ title: "Facets" })
export type Facets = typeof Facets.Type
