import { isBlank } from "#src/format/blank.ts"
import { type Issue } from "#src/format/issues.ts"
import { verificationLevels } from "#src/listings/VerificationLevel.ts"
import { BadRequest } from "#src/shared/Failure.ts"
import { PageArguments, PageQuery } from "#src/shared/paging.ts"
import { optional, Query, QueryNumber, Text } from "#src/shared/text.ts"
import { Effect, Schema } from "effect"

const says = (description: string) => ({ description })

const texts = {
  search: optional(
    Text(200).annotations(says(
      "Words of the name: every one must be there, exactly, as the beginning of a word, or with a typo; in a name that is " +
        "written without spaces, any part of it"
    ))
  ),
  category: optional(Text(255).annotations(says("A category that the listing has, exactly"))),
  location: optional(Text(255).annotations(says("Part of the city or of the state"))),
  templateType: optional(Text(255).annotations(says("The template type or the industry, exactly"))),
  vertical: optional(Text(255).annotations(says("Another name of templateType"))),
  city: optional(Text(255).annotations(says("The whole city, in upper or lower case"))),
  min_verification: optional(Schema.Literal("phone_verified", "business_verified", "premium_verified"))
}

const between = (min: number, max: number, said: object = {}) => <A extends number, I>(schema: Schema.Schema<A, I>) =>
  schema.pipe(
    Schema.between(min, max),
    Schema.annotations({ jsonSchema: { type: "number", minimum: min, maximum: max, ...said } })
  )

const circle = <I>(number: Schema.Schema<number, I>) => ({
  lat: optional(between(-90, 90)(number)),
  lng: optional(between(-180, 180)(number)),
  radius_miles: optional(
    between(0, 25_000, says("The earth is 24,901 miles around; lat, lng and radius_miles come together"))(number)
  )
})

/** Query of `GET /v1/directory`. A text that is blank asks for nothing. */
export const DirectoryQuery = Query({ ...PageQuery.fields, ...texts, ...circle(QueryNumber) })
export type DirectoryQuery = typeof DirectoryQuery.Type

/** The same as a tool's arguments, where numbers are numbers. */
export const directoryArguments = { ...PageArguments, ...texts, ...circle(Schema.Number) }

export interface Circle {
  readonly lat: number
  readonly lng: number
  readonly miles: number
}

/** What is asked for, without how much of it. */
export interface Filters {
  readonly search?: string
  readonly category?: string
  readonly location?: string
  readonly kind?: string
  readonly city?: string
  /** Verification tier, 1 to 3. */
  readonly tier?: number
  readonly circle?: Circle
}

const wrong = (issues: ReadonlyArray<Issue>) =>
  new BadRequest({ reason: issues.map(({ message, path }) => `${path}: ${message}`).join("; "), issues })

const circleOf = ({ lat, lng, radius_miles: miles }: DirectoryQuery) => {
  if (lat !== undefined && lng !== undefined && miles !== undefined) {
    return Effect.succeed({ circle: { lat, lng, miles } })
  }
  const missing = Object.entries({ lat, lng, radius_miles: miles }).filter(([, value]) => value === undefined)
  if (missing.length === 3) return Effect.succeed({})
  return wrong(missing.map(([path]) => ({ path, message: "is required: lat, lng and radius_miles come together" })))
}

const kindOf = ({ templateType, vertical }: DirectoryQuery) => {
  const [first, second] = [templateType, vertical].filter((text) => text !== undefined && !isBlank(text))
  if (first === undefined) return Effect.succeed({})
  if (second === undefined || first === second) return Effect.succeed({ kind: first })
  return wrong([{ path: "vertical", message: "is another name of templateType, and says something else" }])
}

/** What a query asks for; fails with 400 where its parts don't go together. */
export const filtersOf = Effect.fnUntraced(function*(query: DirectoryQuery) {
  const { category, city, location, min_verification: level, search } = query
  const given = Object.entries({ search, category, location, city }).filter(([, text]) => !isBlank(text ?? ""))
  const filters: Filters = {
    ...Object.fromEntries(given),
    ...(yield* kindOf(query)),
    ...(level === undefined ? {} : { tier: verificationLevels.indexOf(level) }),
    ...(yield* circleOf(query))
  }
  return filters
})
