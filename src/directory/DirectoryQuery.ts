import { isBlank } from "#src/format/blank.ts"
import { type Issue } from "#src/format/issues.ts"
import { verificationLevels } from "#src/listings/VerificationLevel.ts"
import { BadRequest } from "#src/shared/Failure.ts"
import { PageArguments, PageQuery } from "#src/shared/paging.ts"
import { optional, Query, QueryNumber, Text } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"
import { type Location, locationOf } from "./location.ts"

const described = (description: string) => ({ description })

const texts = {
  search: optional(
    Text(200).annotations(described(
      "Words of the name, city, state, categories and tags: whole, as a beginning, or with a typo, whatever their accents. " +
        "Finds the listings that have the most of them; first those with more in their name, then whole words before " +
        "beginnings before typos, then the higher relevanceScore"
    ))
  ),
  category: optional(Text(255).annotations(described("A category that the listing has, exactly"))),
  location: optional(
    Text(255).annotations(described(
      "Part of the city or state, whatever its accents; also `Denver, CO`, a state of the United States by its name or " +
        "abbreviation, or a zip code"
    ))
  ),
  templateType: optional(Text(255).annotations(described("The template type or the industry, exactly"))),
  vertical: optional(Text(255).annotations(described("Another name of templateType"))),
  city: optional(Text(255).annotations(described("The whole city, in upper or lower case"))),
  min_verification: optional(Schema.Literal("phone_verified", "business_verified", "premium_verified"))
}

const between = (min: number, max: number, extra: object = {}) => <A extends number, I>(schema: Schema.Schema<A, I>) =>
  schema.pipe(
    Schema.between(min, max),
    Schema.annotations({ jsonSchema: { type: "number", minimum: min, maximum: max, ...extra } })
  )

const circle = <I>(number: Schema.Schema<number, I>) => ({
  lat: optional(between(-90, 90)(number)),
  lng: optional(between(-180, 180)(number)),
  radius_miles: optional(
    between(0, 25_000, described("The earth is 24,901 miles around; lat, lng and radius_miles come together"))(number)
  )
})

const order = {
  sort: optional(
    Schema.Literal("relevance", "distance").annotations(described(
      "`distance`: the nearest first; needs lat, lng and radius_miles"
    ))
  )
}

/** Query of `GET /v1/directory`. Blank texts are ignored. */
export const DirectoryQuery = Query({ ...PageQuery.fields, ...texts, ...order, ...circle(QueryNumber) })
export type DirectoryQuery = typeof DirectoryQuery.Type

/** The same as arguments of a tool, where numbers are not text. */
export const directoryArguments = { ...PageArguments, ...texts, ...order, ...circle(Schema.Number) }

/** The filters alone: query of `GET /v1/directory/facets`. */
export const FacetsQuery = Query({ ...texts, ...circle(QueryNumber) })
export const facetsArguments = { ...texts, ...circle(Schema.Number) }
type FilterQuery = typeof FacetsQuery.Type & Pick<DirectoryQuery, "sort">

export interface Circle {
  readonly lat: number
  readonly lng: number
  readonly miles: number
}

/** The filters of a query, without its paging. */
export interface Filters {
  readonly search?: string
  readonly category?: string
  readonly location?: Location
  readonly kind?: string
  readonly city?: string
  /** Verification tier, 1 to 3. */
  readonly tier?: number
  readonly circle?: Circle
  readonly sort?: "distance"
}

const invalid = (issues: ReadonlyArray<Issue>) =>
  new BadRequest({ reason: issues.map(({ message, path }) => `${path}: ${message}`).join("; "), issues })

const circleOf = ({ lat, lng, radius_miles: miles }: FilterQuery) => {
  if (lat !== undefined && lng !== undefined && miles !== undefined) {
    return Effect.succeed({ circle: { lat, lng, miles } })
  }
  const missing = Object.entries({ lat, lng, radius_miles: miles }).filter(([, value]) => value === undefined)
  if (missing.length === 3) return Effect.succeed({})
  return invalid(missing.map(([path]) => ({ path, message: "is required: lat, lng and radius_miles come together" })))
}

const kindOf = ({ templateType, vertical }: FilterQuery) => {
  const [first, second] = [templateType, vertical].filter((text) => text !== undefined && !isBlank(text))
  if (first === undefined) return Effect.succeed({})
  if (second === undefined || first === second) return Effect.succeed({ kind: first })
  return invalid([{ path: "vertical", message: "is another name of templateType, but has a different value" }])
}

/** The filters of a query; fails with 400 when its parts contradict each other. */
export const filtersOf = Effect.fnUntraced(function*(query: FilterQuery) {
  const { category, city, location = "", min_verification: level, search } = query
  const nonBlank = Object.entries({ search, category, city }).filter(([, text]) => !isBlank(text ?? ""))
  const around = yield* circleOf(query)
  const filters: Filters = {
    ...Object.fromEntries(nonBlank),
    ...(isBlank(location) ? {} : { location: yield* locationOf(location) }),
    ...(yield* kindOf(query)),
    ...(level === undefined ? {} : { tier: verificationLevels.indexOf(level) }),
    ...around,
    ...(query.sort === "distance" ? { sort: "distance" } : {})
  }
  if (filters.sort !== undefined && filters.circle === undefined) {
    return yield* invalid([{ path: "sort", message: "distance needs lat, lng and radius_miles" }])
  }
  return filters
})
