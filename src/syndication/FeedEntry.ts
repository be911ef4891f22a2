import { Hours, TemplateType } from "#src/format/ReadyConfig.ts"
import { VerificationLevel } from "#src/listings/VerificationLevel.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { QueryLimit } from "#src/shared/paging.ts"
import { optional, Query, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"

/** Query of `GET /v1/feeds/businesses`. */
export const FeedQuery = Query({
  limit: Schema.optionalWith(QueryLimit(500), { exact: true, default: () => 100 }),
  changes_token: optional(
    Schema.String.annotations({ description: "As the page before answered it; left out: from the beginning" })
  )
})
export type FeedQuery = typeof FeedQuery.Type

const ListedBusiness = Schema.Struct({
  status: Schema.Literal("listed"),
  id: Schema.String.annotations({ description: "Id of the listing, a ULID" }),
  businessId: Schema.String,
  slug: Schema.String,
  name: Schema.String,
  description: Schema.String,
  categories: Schema.Array(Schema.String),
  tags: Schema.Array(Schema.String),
  templateType: TemplateType,
  industry: Schema.String,
  address: Schema.Struct({
    line1: Schema.String,
    city: Schema.String,
    state: Schema.String,
    zip: Schema.String,
    country: Schema.String
  }),
  coordinates: Schema.NullOr(Schema.Struct({
    lat: Schema.Number,
    lng: Schema.Number,
    isApproximate: Schema.Boolean.annotations({ description: "The centre of its zip code" })
  })),
  timeZone: Schema.NullOr(Schema.String).annotations({
    description: "IANA name, told from its coordinates, zip code or state; null when these do not tell"
  }),
  hours: Hours,
  phone: Schema.String,
  website: Schema.String,
  featuredImageUrl: Schema.String,
  verificationLevel: VerificationLevel,
  mcpServerUrl: Schema.String.annotations({ description: "Empty when it has none" }),
  pageUrl: Schema.String,
  skillUrl: Schema.String,
  publishedAt: Schema.NullOr(Timestamp),
  updatedAt: Timestamp
}).annotations({ title: "ListedBusiness" })

const RemovedBusiness = Schema.Struct({
  status: Schema.Literal("removed"),
  id: Schema.String,
  slug: Schema.String,
  removedAt: Schema.NullOr(Timestamp)
}).annotations({ title: "RemovedBusiness" })

export const FeedEntry = Schema.Union(ListedBusiness, RemovedBusiness).annotations({
  title: "FeedEntry",
  description: "listed: the business as it is now, in place of what was known of it. removed: drop it"
})
export type FeedEntry = typeof FeedEntry.Type

export const FeedPage = Schema.Struct({
  data: Schema.Array(FeedEntry),
  meta: Schema.Struct({
    changes_token: Schema.String.annotations({
      description: "Where to go on: at once when hasMore is true, otherwise later, for what will have changed by then"
    }),
    hasMore: Schema.Boolean
  })
})

/** The changes since a token are no longer known. */
export class ChangesTokenExpired
  extends Schema.TaggedError<ChangesTokenExpired>()("ChangesTokenExpired", {}, failsWith(410))
{
  override get message() {
    return "changes_token: what changed since then is no longer known; read the feed from the beginning, without one, " +
      "and drop what is not in it"
  }
}
