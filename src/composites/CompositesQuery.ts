import { issuesOf } from "#src/format/issues.ts"
import { listingTiers } from "#src/plans/ListingTier.ts"
import { LimitArgument } from "#src/shared/paging.ts"
import { BadQuery, queryParameters } from "#src/shared/query-parameters.ts"
import { Input, optional } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { placeIssues } from "./place-texts.ts"
import { checkCircle, ListingIds, selectorNumbers, selectorTexts, Tags } from "./QueryDefinition.ts"

const mostPerPage = 100
const perPage = 20
const mostOfMinMembers = 10_000

/** What a dynamic query asks for. */
const CompositesQuery = Input({
  ...selectorTexts,
  ...selectorNumbers(Schema.Number),
  listing_ids: optional(ListingIds),
  tags: optional(Tags),
  min_members: optional(Schema.Number.pipe(
    Schema.int(),
    Schema.between(1, mostOfMinMembers),
    Schema.annotations({ jsonSchema: { type: "integer", minimum: 1, maximum: mostOfMinMembers } })
  )),
  limit: LimitArgument(mostPerPage, perPage),
  cursor: optional(Schema.String)
})
export type CompositesQuery = typeof CompositesQuery.Type

const text = (description: string, more: object = {}) => ({ description, jsonSchema: { type: "string", ...more } })
const count = (description: string, minimum: number, maximum: number, more: object = {}) => ({
  description,
  jsonSchema: { type: "integer", minimum, maximum, ...more }
})
const list = (description: string) => ({ description, jsonSchema: { type: "array", items: { type: "string" } } })
const degrees = (description: string, most: number) => ({
  description,
  jsonSchema: { type: "number", minimum: -most, maximum: most }
})

/** Any value: what is wrong is told with the contract's `validation_error`, by the service. Empty ones are ignored. */
const described = {
  vertical: text("The business's industry, whatever case and punctuation: `nail_salon` is `Nail Salon`"),
  city: text("The whole city, whatever case and accents; `Saint` is `St.`"),
  state: text("The whole state; one of the United States by name or abbreviation"),
  category: text("Members have this category, exactly"),
  search: text("Members are found by these words in the directory's search", { maxLength: 200 }),
  lat: degrees("Members are within a circle: lat, lng and radius_miles come together", 90),
  lng: degrees("With lat and radius_miles", 180),
  radius_miles: {
    description: "With lat and lng",
    jsonSchema: { type: "number", minimum: 0, maximum: 25_000 }
  },
  listing_tier: text("Members have this tier", { enum: listingTiers }),
  health_score_min: count("Members have this health score at least; 50 by default", 50, 100),
  verification_tier_min: count("Composites whose every member has it: 1 phone, 2 business, 3 premium", 0, 3),
  min_members: count("Composites of so many members at least; 1 by default", 1, mostOfMinMembers),
  limit: count(`1 to ${mostPerPage}, ${perPage} by default`, 1, mostPerPage, { default: perPage }),
  cursor: text("meta.cursor of the page before; it goes with the filters it was given for"),
  listing_ids: list("Members are among these listings, at most 50"),
  tags: list("Members have all of these tags")
} as const

export const { Arguments: CompositesArguments, Parameters: CompositesParameters } = queryParameters(described)

type Sent = { readonly [K in keyof typeof described]?: unknown }

const plainDigits = (name: string) =>
  /^(lat|lng|radius_miles)$/.test(name)
    ? /^-?\d+(\.\d+)?$/
    : /^(.*_min|min_members|limit)$/.test(name)
    ? /^\d+$/
    : undefined
const isList = (name: string) => name === "listing_ids" || name === "tags"
/** A form sends empty what nobody filled in. Characters that nobody sees are wrong: somebody wrote them. */
const isNothing = (name: string, value: unknown) =>
  typeof value === "string" && value.trim() === "" && plainDigits(name) === undefined

/** A query's texts as what they stand for: plain digits are a number, commas divide a list. */
const read = ([name, value]: readonly [string, unknown]): readonly [string, unknown] => {
  if (isList(name)) return [name, typeof value === "string" ? value.split(",") : value]
  if (Array.isArray(value)) return [name, value]
  return [name, typeof value === "string" && plainDigits(name)?.test(value) === true ? Number(value) : value]
}

const decode = Schema.decodeUnknown(CompositesQuery)

/** What a query asks for; fails with all that is wrong with it. */
export const compositesQueryOf = Effect.fnUntraced(function*(sent: Sent) {
  const given = Object.entries(sent).filter(([name, value]) =>
    value !== undefined && !(Object.hasOwn(described, name) && isNothing(name, value))
  )
  const query = yield* Effect.mapError(
    decode(Object.fromEntries(given.map(read))),
    (error) => new BadQuery({ issues: issuesOf(error) })
  )
  const issues = placeIssues(query)
  if (issues.length > 0) return yield* new BadQuery({ issues })
  yield* checkCircle(query)
  return query
})
