import { isBlank } from "#src/format/blank.ts"
import { ListingTier } from "#src/plans/ListingTier.ts"
import { isUlid } from "#src/shared/ids.ts"
import { BadQuery } from "#src/shared/query-parameters.ts"
import { Input, List, Name, optional, Text } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"

/** Contract: Composites, a listing with a lower score is not a member. */
export const leastHealth = 50
/** Members are listed up to so many. */
export const mostMembers = 50

/** A state may be empty: some countries have none. */
const State = Text(255)
const Words = Text(200).pipe(
  Schema.filter((text) => !isBlank(text) || "must not be blank", { jsonSchema: { minLength: 1 } })
)

const number =
  (min: number, max: number, type: "integer" | "number", description: string) =>
  <I>(schema: Schema.Schema<number, I>) =>
    schema.pipe(
      type === "integer" ? Schema.int() : Schema.finite(),
      Schema.between(min, max),
      Schema.annotations({ description, jsonSchema: { type, minimum: min, maximum: max } })
    )

/** The texts of a definition that select listings, and its tier: the same in JSON and in a query string. */
export const selectorTexts = {
  vertical: optional(
    Name.annotations({
      description: "The industry of the business, whatever case, accents and punctuation: `nail_salon` is `Nail Salon`"
    })
  ),
  category: optional(Name.annotations({ description: "A category that the listing has, exactly" })),
  city: optional(Name.annotations({ description: "The whole city, whatever case and accents; `Saint` is `St.`" })),
  state: optional(
    State.annotations({ description: "The whole state; one of the United States by name or abbreviation" })
  ),
  search: optional(Words.annotations({ description: "Words, as in the directory's search" })),
  listing_tier: optional(ListingTier)
}

/** Its numbers. `schema`: of a number, or of a number in a query string. */
export const selectorNumbers = <I>(schema: Schema.Schema<number, I>) => ({
  lat: optional(number(-90, 90, "number", "With lng and radius_miles")(schema)),
  lng: optional(number(-180, 180, "number", "With lat and radius_miles")(schema)),
  radius_miles: optional(number(0, 25_000, "number", "With lat and lng")(schema)),
  verification_tier_min: optional(number(0, 3, "integer", "0 unverified, 1 phone, 2 business, 3 premium")(schema)),
  health_score_min: optional(number(leastHealth, 100, "integer", "Members have it at least; 50 by default")(schema))
})

export const ListingIds = List(
  Schema.String.pipe(Schema.filter((id) => isUlid(id) || "must be a 26-character ULID", { jsonSchema: {} }))
).pipe(Schema.minItems(1), Schema.maxItems(50))
export const Tags = List(Name).pipe(Schema.minItems(1), Schema.maxItems(20))

const selectors = ["listing_ids", "vertical", "category", "tags", "city", "state", "search", "lat"] as const

/** Contract: Composites, `query_definition`: which listings are members, as long as they are eligible. */
export const QueryDefinition = Input({
  listing_ids: optional(ListingIds),
  ...selectorTexts,
  tags: optional(Tags.annotations({ description: "All of them" })),
  ...selectorNumbers(Schema.Number),
  limit: optional(
    number(1, mostMembers, "integer", "So many of the best are members; all by default")(Schema.Number)
  )
}).pipe(
  Schema.filter(
    (definition) =>
      selectors.some((name) => definition[name] !== undefined) ||
      `must have at least one of ${selectors.slice(0, -1).join(", ")}, or lat with lng and radius_miles`,
    { jsonSchema: {} }
  ),
  Schema.annotations({ title: "QueryDefinition" })
)
export type QueryDefinition = typeof QueryDefinition.Type

/** Fails unless lat, lng and radius_miles are all there, or none. */
export const checkCircle = ({ lat, lng, radius_miles }: Pick<QueryDefinition, "lat" | "lng" | "radius_miles">) => {
  const missing = Object.entries({ lat, lng, radius_miles }).filter(([, value]) => value === undefined)
  return missing.length % 3 === 0 ? Effect.void : new BadQuery({
    issues: missing.map(([path]) => ({ path, message: "is required: lat, lng and radius_miles come together" }))
  })
}
