import { AccountId } from "#src/accounts/CurrentActor.ts"
import { byDay, repeatedDays } from "#src/format/opening-day.ts"
import { Analytics, AnyObject, Coordinates, FeatureFlags, Hours, TemplateType } from "#src/format/ReadyConfig.ts"
import { VerificationLevel } from "#src/listings/VerificationLevel.ts"
import { PlanName } from "#src/plans/Plan.ts"
import { ProjectId } from "#src/projects/Project.ts"
import { HealthHistory } from "#src/servers/health-history.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Id } from "#src/shared/ids.ts"
import { HttpsUrl, Line, Prose, Website } from "#src/shared/profile-text.ts"
import { Input, Name, optional, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"

export const BusinessId = Id("BusinessId", "Business id, a ULID")
export type BusinessId = typeof BusinessId.Type

const Contact = Schema.Struct({
  phone: Schema.String,
  email: Schema.String,
  website: Schema.String,
  address: Schema.Struct({
    line1: Schema.String,
    city: Schema.String,
    state: Schema.String,
    zip: Schema.String,
    country: Schema.String
  }),
  coordinates: Schema.NullOr(Coordinates)
})

const CustomFields = Schema.Record({ key: Schema.String, value: Schema.String })

/** How the linked server answers its health probes (docs/decisions/health-score.md). */
export const Health = Schema.Struct({
  score: Schema.Int.annotations({ description: "Share of good probes in percent: the listing's healthScore" }),
  probes: Schema.Int.annotations({
    description: "Probes of the server's last 24 running hours; the checks of its first deployment count as one"
  }),
  failures: Schema.Int.annotations({ description: "Those of them that were not answered with 200 and JSON in time" }),
  lastProbeAt: Schema.NullOr(Timestamp),
  lastFailureAt: Schema.NullOr(Timestamp),
  lastFailure: Schema.NullOr(Schema.String).annotations({ description: "What was wrong then" })
}).annotations({ description: "Of the linked server's probes; null without a server that has passed its checks once" })

/** A business as its owner sees it. Of the integrations it shows only the names. */
export const Business = Schema.Struct({
  id: BusinessId,
  projectId: ProjectId,
  serverId: Schema.NullOr(Schema.String),
  listingId: Schema.String,
  name: Schema.String,
  slug: Schema.String,
  description: Schema.String,
  category: Schema.String,
  industry: Schema.String,
  templateType: TemplateType,
  contact: Contact,
  hours: Hours,
  featureFlags: FeatureFlags,
  customFields: CustomFields,
  integrations: Schema.Array(Schema.String).annotations({ description: "Names of the integrations that are set" }),
  analytics: Schema.NullOr(Analytics),
  verificationLevel: VerificationLevel,
  profileCompleteness: Schema.Int.annotations({ description: "0 to 100" }),
  health: Schema.NullOr(Health),
  createdAt: Timestamp,
  updatedAt: Timestamp
}).annotations({ title: "Business" })
export type Business = typeof Business.Type

const { address: _address, coordinates: _coordinates, ...contactColumns } = Contact.fields

/** What is stored of its server's health. */
const ServerHealthColumns = Schema.Struct({
  healthScore: Schema.Int,
  healthHours: Schema.NullOr(HealthHistory.fields.hours),
  probedAt: Schema.NullOr(Schema.DateFromSelf),
  probeFailedAt: Schema.NullOr(Schema.DateFromSelf),
  probeFailure: Schema.NullOr(Schema.String)
})

/** A row of businesses, joined with its project, account, listing and its server's health. */
export const BusinessRow = Schema.Struct({
  ...Business.pick(
    "id",
    "projectId",
    "serverId",
    "listingId",
    "name",
    "slug",
    "description",
    "category",
    "industry",
    "templateType",
    "hours",
    "customFields",
    "featureFlags",
    "analytics",
    "verificationLevel",
    "profileCompleteness"
  ).fields,
  ...ServerHealthColumns.fields,
  ...contactColumns,
  ...Contact.fields.address.fields,
  latitude: Schema.NullOr(Schema.Number),
  longitude: Schema.NullOr(Schema.Number),
  sealedIntegrations: Schema.NullOr(Schema.String),
  verifiedPhone: Schema.NullOr(Schema.String),
  phoneVerifiedAt: Schema.NullOr(Schema.DateFromSelf),
  reviewRequestedAt: Schema.NullOr(Schema.DateFromSelf),
  premiumGrantedAt: Schema.NullOr(Schema.DateFromSelf),
  catalogSyncedAt: Schema.NullOr(Schema.DateFromSelf),
  createdAt: Schema.DateFromSelf,
  updatedAt: Schema.DateFromSelf,
  accountId: AccountId,
  accountCreatedAt: Schema.DateFromSelf,
  plan: PlanName
})
export type BusinessRow = typeof BusinessRow.Type

const Email = Line(254).pipe(
  Schema.filter((text) => text === "" || /^[^\s@]+@[^\s@]+$/.test(text) || "must be an e-mail address", {
    jsonSchema: {}
  })
)

const ContactInput = Input({
  phone: optional(Line(50)),
  email: optional(Email),
  website: optional(Website),
  address: optional(Input({
    line1: optional(Line(255)),
    city: optional(Line(255)),
    state: optional(Line(255)),
    zip: optional(Line(50)),
    country: optional(Line(255))
  })),
  coordinates: optional(Schema.NullOr(Coordinates))
})

const mostDays = 400
/** Days in lower case, as they are stored. A repeated day is an error, because which one counts would be random. */
const HoursInput = Hours.pipe(
  Schema.filter((hours) => Object.keys(hours).length <= mostDays || `must have at most ${mostDays} days`, {
    jsonSchema: {}
  }),
  Schema.filter((hours) => repeatedDays(hours).map((day) => ({ path: [day], message: "names a day a second time" })), {
    jsonSchema: {}
  }),
  Schema.transform(Schema.typeSchema(Hours), { strict: true, decode: byDay, encode: (hours) => hours })
)

const mostBytes = 32 * 1024
const IntegrationsInput = AnyObject.pipe(
  Schema.filter((value) => JSON.stringify(value).length <= mostBytes || `must be at most ${mostBytes / 1024} KiB`, {
    jsonSchema: {}
  })
)

/** The same limit as for an import (contract: Import). */
const mostCustomFields = 20
const isFieldName = Schema.is(Name)
const CustomFieldsInput = Schema.Record({ key: Schema.String, value: Prose(1000) }).pipe(
  Schema.filter(
    (fields) => Object.keys(fields).length <= mostCustomFields || `must have at most ${mostCustomFields} entries`,
    { jsonSchema: {} }
  ),
  Schema.filter(
    (fields) => Object.keys(fields).every((name) => isFieldName(name)) || "must name each entry in 1 to 255 characters",
    { jsonSchema: {} }
  )
)

/** Only the server's machine may call it, and loopback is the machine itself there: so https, in development too. */
const AnalyticsInput = Input({ enabled: Schema.Boolean, reportingEndpoint: optional(HttpsUrl) })

const Description = Prose(5000)
const Industry = Name

/** Fields of a new business, flat. `industry` is free text and defaults to the template type. */
export const createBusinessFields = {
  projectId: Line(64),
  name: Name,
  description: optional(Description),
  industry: optional(Industry),
  templateType: Schema.optionalWith(TemplateType, { exact: true, default: () => "custom" as const })
}
export const CreateBusiness = Input(createBusinessFields)

/** Only given fields change, within `contact`, `address` and `featureFlags` too. `hours` is replaced as a whole. */
export const updateBusinessFields = {
  name: optional(Name),
  description: optional(Description),
  category: optional(Line(255)),
  industry: optional(Industry),
  templateType: optional(TemplateType),
  contact: optional(ContactInput),
  hours: optional(HoursInput).annotations({
    description: "By weekday (monday … sunday), or by date (2026-12-25), which overrides its weekday: \"closed\", or " +
      "{ open, close } as HH:MM on the business's own clock. A close at or before open is on the next day; 24:00 is " +
      "midnight. Replaced as a whole"
  }),
  featureFlags: optional(Input({
    appointmentBooking: optional(Schema.Boolean),
    onlineOrdering: optional(Schema.Boolean),
    quoteRequests: optional(Schema.Boolean),
    faq: optional(Schema.Boolean),
    menuBrowsing: optional(Schema.Boolean)
  })),
  integrations: optional(Schema.NullOr(IntegrationsInput)).annotations({
    description: "Credentials of calendar, CRM and webhooks: stored encrypted, replaced as a whole; null removes them"
  }),
  customFields: optional(CustomFieldsInput).annotations({
    description: "Further facts by subject (parking: …); shown when the flag faq is set; replaced as a whole"
  }),
  analytics: optional(Schema.NullOr(AnalyticsInput)),
  serverId: optional(Schema.NullOr(Schema.String)).annotations({
    description: "The hosted server that speaks for the business; null unlinks it"
  })
}
export const UpdateBusiness = Input(updateBusinessFields)

const { name: _name, serverId: _serverId, templateType: _templateType, ...profileFields } = updateBusinessFields
/** The profile fields that a publish may set together with the catalog. */
export const Profile = Input(profileFields)

export class BusinessNotFound extends Schema.TaggedError<BusinessNotFound>()("BusinessNotFound", {}, failsWith(404)) {
  override get message() {
    return "There is no such business"
  }
}

export class ServerAlreadyLinked
  extends Schema.TaggedError<ServerAlreadyLinked>()("ServerAlreadyLinked", {}, failsWith(409))
{
  override get message() {
    return "The server is linked to another business already"
  }
}
