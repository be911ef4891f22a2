import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { ListingAnalyticsReads } from "#src/hub/ListingAnalyticsReads.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { HubAnalyticsApi } from "./Api.ts"

export const HubAnalyticsHandlers = HttpApiBuilder.group(
  apiOf(HubAnalyticsApi),
  "hubAnalytics",
  (handlers) =>
    Effect.map(
      ListingAnalyticsReads,
      (reads) =>
        handlers.handle("get", ({ path, urlParams }) => Effect.map(reads.get(path.listingId, urlParams.period), data))
    )
)
