import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { ListingAnalyticsReads } from "#src/hub/ListingAnalyticsReads.ts"
import { Transactions } from "#src/hub/Transactions.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { HubAnalyticsApi } from "./Api.ts"

export const HubAnalyticsHandlers = HttpApiBuilder.group(
  apiOf(HubAnalyticsApi),
  "hubAnalytics",
  (handlers) =>
    Effect.map(Effect.all([ListingAnalyticsReads, Transactions]), ([reads, transactions]) =>
      handlers
        .handle("get", ({ path, urlParams }) => Effect.map(reads.get(path.listingId, urlParams.period), data))
        .handle("daily", ({ path, urlParams }) => Effect.map(reads.daily(path.listingId, urlParams.period), data))
        .handle("unmet", ({ path, urlParams }) => Effect.map(reads.unmet(path.listingId, urlParams.period), data))
        .handle(
          "record",
          ({ path, request }) =>
            Effect.map(transactions.record(path.listingId, request.headers["idempotency-key"]), data)
        ))
)
