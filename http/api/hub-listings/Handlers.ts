import { apiOf } from "#http/answers/group.ts"
import { ListingSkills } from "#src/hub/ListingSkills.ts"
import { HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { HubListingsApi } from "./Api.ts"
import { skillResponse } from "./skill-response.ts"

export const HubListingsHandlers = HttpApiBuilder.group(
  apiOf(HubListingsApi),
  "hubListings",
  (handlers) =>
    Effect.map(ListingSkills, (skills) =>
      handlers
        .handle(
          "skill",
          ({ path, request }) =>
            Effect.map(skills.get(path.listingId, request.method !== "HEAD"), skillResponse(request))
        )
        .handle(
          "referral",
          ({ path, request }) =>
            Effect.map(
              skills.refer(path.listingId, request.method !== "HEAD"),
              (to) => HttpServerResponse.empty({ status: 302, headers: { location: to, "cache-control": "no-store" } })
            )
        ))
)
