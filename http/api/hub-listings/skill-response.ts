import { conditional } from "#http/answers/conditional.ts"
import { type ListingSkills } from "#src/hub/ListingSkills.ts"
import { type HttpServerRequest } from "@effect/platform"
import { type Effect } from "effect"

type Skill = Effect.Effect.Success<ReturnType<ListingSkills["get"]>>

/** Contract: Skill.md response headers. */
export const skillResponse = (request: HttpServerRequest.HttpServerRequest) => ({ listing, text }: Skill) =>
  conditional(request, text, "text/markdown; charset=utf-8", {
    "cache-control": "public, max-age=60, stale-while-revalidate=300",
    "x-hub-listing-id": listing.id,
    "x-hub-listing-tier": listing.tier,
    "x-hub-verification-tier": String(listing.verificationTier),
    "x-hub-health-score": String(listing.healthScore),
    "x-hub-url": listing.hubUrl
  })
