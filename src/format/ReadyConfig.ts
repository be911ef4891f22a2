import { type ParseResult, Schema } from "effect"
import { isBlank } from "./blank.ts"
import { issuesOf } from "./issues.ts"
import { isCalendarDate, isWeekday } from "./opening-day.ts"

/** Any object. Schema's own `Unknown` gets an `$id` in JSON Schema, which a document may contain only once. */
export const AnyObject = Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
  jsonSchema: { type: "object" }
})

/** The platform writes `""` for a missing text; a missing field and null are read as that. */
const text = Schema.optionalWith(Schema.String, { nullable: true, default: () => "" })
const flag = Schema.optionalWith(Schema.Boolean, { nullable: true, default: () => false })

const NotBlank = Schema.String.pipe(Schema.filter((name) => !isBlank(name) || "must not be blank"))

const clock = (pattern: RegExp) =>
  Schema.String.pipe(Schema.pattern(pattern, { message: () => "must be a time of day, HH:MM" }))

/** `close` at or before `open` means the day after (equal: 24 hours); `24:00` is midnight at the end of the day. */
const OpenSpan = Schema.Struct({
  open: clock(/^([01]\d|2[0-3]):[0-5]\d$/),
  close: clock(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/)
})

export const DayHours = Schema.Union(Schema.Literal("closed"), OpenSpan).annotations({
  message: () => ({ message: "must be \"closed\", or { open, close } with times HH:MM", override: true })
})
export type DayHours = typeof DayHours.Type

const dayKey = "must be named for a weekday (monday … sunday) or a date (YYYY-MM-DD)"

export const Hours = Schema.Record({ key: Schema.String, value: DayHours }).pipe(
  Schema.filter((hours) =>
    Object.keys(hours).flatMap((key) => isWeekday(key) || isCalendarDate(key) ? [] : [{ path: [key], message: dayKey }])
  )
)
export type Hours = typeof Hours.Type

export const PriceType = Schema.Literal("fixed", "starting_at", "hourly", "free_estimate")

const Category = Schema.Struct({
  id: Schema.NonEmptyString,
  name: Schema.String,
  sortOrder: Schema.optionalWith(Schema.Number, { nullable: true, default: () => 0 })
})

const Item = Schema.Struct({
  id: Schema.NonEmptyString,
  name: Schema.String,
  description: text,
  categoryId: Schema.optionalWith(Schema.NullOr(Schema.String), { default: () => null }),
  /** US cents; null when no price is stated. */
  priceCents: Schema.optionalWith(Schema.NullOr(Schema.NonNegativeInt), { default: () => null }),
  priceType: Schema.optionalWith(PriceType, { nullable: true, default: () => "fixed" as const }),
  isAvailable: Schema.optionalWith(Schema.Boolean, { nullable: true, default: () => true }),
  metadata: Schema.optionalWith(AnyObject, {
    nullable: true,
    default: () => ({})
  })
})
export type CatalogItem = typeof Item.Type

const distinct = (what: string) => (rows: ReadonlyArray<{ readonly id: string }>) =>
  new Set(rows.map((row) => row.id)).size === rows.length || `must not have two ${what} with the same id`

const Catalog = Schema.Struct({
  categories: Schema.Array(Category).pipe(Schema.filter(distinct("categories"))),
  items: Schema.Array(Item).pipe(Schema.filter(distinct("items")))
})
export type Catalog = typeof Catalog.Type

export const TemplateType = Schema.Literal(
  "restaurant",
  "salon",
  "home_services",
  "retail",
  "professional_services",
  "custom"
)
export type TemplateType = typeof TemplateType.Type

export const Coordinates = Schema.Struct({
  lat: Schema.Number.pipe(Schema.between(-90, 90)),
  lng: Schema.Number.pipe(Schema.between(-180, 180))
})

const Address = Schema.Struct({ line1: text, city: text, state: text, zip: text, country: text })

export const FeatureFlags = Schema.Struct({
  appointmentBooking: flag,
  onlineOrdering: flag,
  quoteRequests: flag,
  faq: flag,
  menuBrowsing: flag
})

export const Analytics = Schema.Struct({ enabled: Schema.Boolean, reportingEndpoint: Schema.optional(Schema.String) })

/** A business's stored configuration, version 2.0: what its MCP server reads from `SVC_READY_CONFIG`. */
export const ReadyConfig = Schema.Struct({
  version: Schema.Literal("2.0"),
  serverId: Schema.String,
  templateType: TemplateType,
  business: Schema.Struct({
    name: NotBlank,
    description: text,
    category: text,
    /** Not in the contract, and present only with the flag `faq`: the owner's facts by subject. */
    customFields: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.String }), { exact: true })
  }),
  contact: Schema.Struct({
    phone: text,
    email: text,
    website: text,
    address: Address,
    coordinates: Schema.optionalWith(Schema.NullOr(Coordinates), { default: () => null })
  }),
  hours: Hours,
  /** Absent before the first catalog sync. */
  catalog: Schema.optionalWith(Catalog, { nullable: true }),
  featureFlags: FeatureFlags,
  /** Credentials for calendar, CRM and webhooks: they must never leave the process that reads them. */
  integrations: Schema.optionalWith(AnyObject, { nullable: true }),
  analytics: Schema.optionalWith(Analytics, { nullable: true })
})
export type ReadyConfig = typeof ReadyConfig.Type

export const decodeReadyConfig = Schema.decodeUnknownEither(ReadyConfig)

/** `hours.monday: must be "closed" or …`: the first issue on one line, without the invalid value. */
export const describeIssue = (error: ParseResult.ParseError): string => {
  const [issue] = issuesOf(error)
  if (issue === undefined) return "is not a ReadyConfig"
  return `${issue.path === "" ? "" : `${issue.path}: `}${issue.message}`
}
