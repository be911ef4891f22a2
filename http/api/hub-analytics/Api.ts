import { Data } from "#http/answers/envelope.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { AnalyticsQuery, InvalidInput, ListingAnalytics, NotYourListing } from "#src/hub/ListingAnalytics.ts"
import { ListingNotFound } from "#src/listings/Listing.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"

export class HubAnalyticsApi extends HttpApiGroup.make("hubAnalytics")
  .add(
    HttpApiEndpoint.get("get", "/api/v1/hub/analytics/listings/:listingId")
      .setPath(Schema.Struct({ listingId: Schema.String }))
      .setUrlParams(AnalyticsQuery)
      .addSuccess(Data(ListingAnalytics))
      .addError(InvalidInput)
      .addError(NotYourListing)
      .addError(ListingNotFound)
      .annotate(OpenApi.Summary, "Count what happened to a listing of yours")
      .annotate(
        OpenApi.Description,
        "Session only. Views for each listing; clicks from tier featured on, impressions, referrals and conversions for premium."
      )
  )
  .middleware(Authentication)
  .annotate(RouteTraits, { rate: "hub" })
  .annotate(OpenApi.Title, "Listing analytics")
{}
