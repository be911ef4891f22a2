import { ListingTier } from "#src/plans/ListingTier.ts"
import { type PlanName } from "#src/plans/Plan.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Id } from "#src/shared/ids.ts"
import { Prose, Website } from "#src/shared/profile-text.ts"
import { Input, List, Name, optional, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"
import { VerificationLevel } from "./VerificationLevel.ts"

export const ListingId = Id("ListingId", "Listing id, a ULID")
export type ListingId = typeof ListingId.Type

const ListingStatus = Schema.Literal("active", "pending")

/** Contract: Directory and business endpoints, a listing in a list. */
const Listing = Schema.Struct({
  id: ListingId,
  businessId: Schema.String,
  businessName: Schema.String,
  businessSlug: Schema.String,
  name: Schema.String,
  description: Schema.String,
  categories: Schema.Array(Schema.String),
  tags: Schema.Array(Schema.String),
  featuredImageUrl: Schema.String,
  city: Schema.String,
  state: Schema.String,
  publishedAt: Schema.NullOr(Timestamp),
  verificationLevel: VerificationLevel,
  relevanceScore: Schema.Int
}).annotations({ title: "Listing" })
export type Listing = typeof Listing.Type

const McpServerUrl = Schema.String.annotations({
  description: "Where clients reach the business's MCP server (Streamable HTTP); empty when none is linked"
})

/** A listing in a list of the directory, with its distance when the query has a circle. */
export const ListedListing = Schema.Struct({
  ...Listing.fields,
  mcpServerUrl: McpServerUrl,
  distanceMiles: optional(Schema.Number).annotations({ description: "Only when lat, lng and radius_miles are given" }),
  distanceIsApproximate: optional(Schema.Literal(true)).annotations({
    description: "The business gave no coordinates: the distance is that of the centre of its zip code"
  })
}).annotations({ title: "ListedListing" })
export type ListedListing = typeof ListedListing.Type

/** Contract: the listing with the fields that only the detail read has. */
export const ListingDetail = Schema.Struct({
  ...Listing.fields,
  mcpServerUrl: McpServerUrl,
  industry: Schema.String,
  website: Schema.String
}).annotations({ title: "ListingDetail" })
export type ListingDetail = typeof ListingDetail.Type

/** A listing as its owner sees it. */
export const OwnListing = Schema.Struct({
  ...Listing.fields,
  status: ListingStatus,
  tier: ListingTier,
  healthScore: Schema.Int,
  profileCompleteness: Schema.Int,
  agentAccess: Schema.Boolean,
  composable: Schema.NullOr(Schema.Boolean).annotations({
    description: "Whether composites may call its server; null: as long as everybody may use that server"
  }),
  updatedAt: Timestamp
}).annotations({ title: "OwnListing" })
export type OwnListing = typeof OwnListing.Type

/** Contract: the answer of `PATCH /v1/directory/:id`. */
export const Visibility = OwnListing.pick("id", "businessId", "status", "publishedAt", "updatedAt").annotations({
  title: "Visibility"
})
export type Visibility = typeof Visibility.Type

/** A row of listings; `verificationTier` stands for the level. */
export const ListingRow = Schema.Struct({
  ...OwnListing.omit("verificationLevel").fields,
  publishedAt: Schema.NullOr(Schema.DateFromSelf),
  updatedAt: Schema.DateFromSelf,
  verificationTier: Schema.Int,
  ownName: Schema.NullOr(Schema.String),
  ownDescription: Schema.NullOr(Schema.String),
  ownCategories: Schema.NullOr(Schema.Array(Schema.String)),
  ownTier: Schema.NullOr(ListingTier)
})
export type ListingRow = typeof ListingRow.Type

/** The fields of a business that its listing is derived from. */
export interface Listed {
  readonly id: string
  readonly name: string
  readonly slug: string
  readonly description: string
  readonly industry: string
  readonly templateType: string
  readonly category: string
  readonly city: string
  readonly state: string
  readonly zip: string
  readonly country: string
  readonly latitude: number | null
  readonly longitude: number | null
  readonly verificationLevel: VerificationLevel
  /** 0 to 100. */
  readonly profileCompleteness: number
  /** That of its server, 0 to 100; 0 without one. */
  readonly healthScore: number
  /** The plan of its account. */
  readonly plan: PlanName
}

/** The public columns of a row. */
export const publicColumns = ListingRow.pick(
  "id",
  "businessId",
  "businessName",
  "businessSlug",
  "name",
  "description",
  "categories",
  "tags",
  "featuredImageUrl",
  "city",
  "state",
  "publishedAt",
  "verificationTier",
  "relevanceScore"
).fields

const Labels = List(Name).pipe(
  Schema.maxItems(20, { message: () => "must have at most 20 entries" }),
  Schema.filter((labels) => new Set(labels).size === labels.length || "must not name anything twice", {
    jsonSchema: { uniqueItems: true }
  })
)

export const SetVisible = Input({ visible: Schema.Boolean })

/** Only given fields change. `name`, `description`, `categories` follow the business until set, and again when null. */
export const updateListingFields = {
  name: optional(Schema.NullOr(Name)),
  description: optional(Schema.NullOr(Prose(5000))),
  categories: optional(Schema.NullOr(Labels)),
  tags: optional(Labels),
  featuredImageUrl: optional(Website),
  agentAccess: optional(
    Schema.Boolean.annotations({
      description: "Whether agents without a login find it: at /mcp/directory, and in the feed of businesses"
    })
  ),
  composable: optional(
    Schema.NullOr(Schema.Boolean).annotations({
      description: "Whether composites may call its server; null: as long as everybody may use that server"
    })
  )
}
export const UpdateListing = Input(updateListingFields)

export class ListingNotFound extends Schema.TaggedError<ListingNotFound>()("ListingNotFound", {}, failsWith(404)) {
  override get message() {
    return "There is no such listing"
  }
}
