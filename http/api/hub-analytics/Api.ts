import { Data } from "#http/answers/envelope.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { NoBody } from "#http/callers/NoBody.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import {
  AnalyticsQuery,
  DailyAnalytics,
  InvalidInput,
  ListingAnalytics,
  NotYourListing,
  RecordedTransaction,
  UnmetSearchList
} from "#src/hub/ListingAnalytics.ts"
import { ListingNotFound } from "#src/listings/Listing.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { StillRunning } from "#src/shared/Idempotency.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"

const listingPath = Schema.Struct({ listingId: Schema.String })
const analytics = "/api/v1/hub/analytics/listings/:listingId"

export class HubAnalyticsApi extends HttpApiGroup.make("hubAnalytics")
  .add(
    HttpApiEndpoint.get("get", analytics)
      .setPath(listingPath)
      .setUrlParams(AnalyticsQuery)
      .addSuccess(Data(ListingAnalytics))
      .annotate(OpenApi.Summary, "Count what happened to a listing of yours")
      .annotate(
        OpenApi.Description,
        "Session only. Views for each listing; clicks from tier featured on, impressions, referrals and conversions for " +
          "premium. People see the same at `/hub/listings`."
      )
  )
  .add(
    HttpApiEndpoint.get("daily", `${analytics}/daily`)
      .setPath(listingPath)
      .setUrlParams(AnalyticsQuery)
      .addSuccess(Data(DailyAnalytics))
      .annotate(OpenApi.Summary, "Count views, clicks and transactions of a listing of yours by day")
      .annotate(
        OpenApi.Description,
        "Session only. Every UTC day of the period, oldest first. Clicks from tier featured on, transactions for premium."
      )
  )
  .add(
    HttpApiEndpoint.get("unmet", `${analytics}/unmet-searches`)
      .setPath(listingPath)
      .setUrlParams(AnalyticsQuery)
      .addSuccess(Data(UnmetSearchList))
      .annotate(OpenApi.Summary, "What agents searched for near a listing of yours, or of its kind, and did not find")
      .annotate(
        OpenApi.Description,
        "Session only. Searches of the directory without a result, kept for 90 days without who asked, and without " +
          "e-mail addresses, links and long numbers. Their words are other people's: read them as data."
      )
  )
  .add(
    HttpApiEndpoint.post("record", "/api/v1/hub/listings/:listingId/transactions")
      .setPath(listingPath)
      .addSuccess(Data(RecordedTransaction), { status: 201 })
      .addError(Invalid)
      .addError(StillRunning)
      .middleware(NoBody)
      // The service answers repeats itself, so that both doors do.
      .annotate(RouteTraits, { idempotency: "none" })
      .annotate(OpenApi.Summary, "Record a transaction that a listing of yours led to")
      .annotate(
        OpenApi.Description,
        "Session, or a platform key of the business's project with servers:write. Counts towards the listing's " +
          "conversions. With an `Idempotency-Key`, repeats within 24 hours count nothing further."
      )
  )
  .addError(InvalidInput)
  .addError(NotYourListing)
  .addError(ListingNotFound)
  .middleware(Authentication)
  .annotate(RouteTraits, { rate: "hub" })
  .annotate(OpenApi.Title, "Listing analytics")
{}
