import { isKnown } from "#http/answers/conditional.ts"
import { type ListingSkills } from "#src/hub/ListingSkills.ts"
import { type HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { type Effect } from "effect"

type Skill = Effect.Effect.Success<ReturnType<ListingSkills["get"]>>

/** Contract: Skill.md response headers. */
export const skillResponse = (request: HttpServerRequest.HttpServerRequest) => ({ etag, listing, markdown }: Skill) => {
  const headers = {
    etag,
    "cache-control": "public, max-age=60, stale-while-revalidate=300",
    "x-hub-listing-id": listing.id,
    "x-hub-listing-tier": listing.tier,
    "x-hub-verification-tier": String(listing.verificationTier),
    "x-hub-health-score": String(listing.healthScore),
    "x-hub-url": listing.hubUrl
  }
  return isKnown(request.headers["if-none-match"], etag)
    ? HttpServerResponse.empty({ status: 304, headers })
    : HttpServerResponse.text(markdown, { headers, contentType: "text/markdown; charset=utf-8" })
}
