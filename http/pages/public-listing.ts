import { PublicBusinesses } from "#src/syndication/PublicBusinesses.ts"
import { HttpRouter, HttpServerRequest } from "@effect/platform"
import { Effect } from "effect"
import { publicListingPage } from "./public-listing-page.ts"
import { publicPage } from "./respond.ts"

/** The page of a listing, for everybody. A HEAD is not a view. */
export const makePublicListing = Effect.map(PublicBusinesses, (businesses) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { slug = "" } = yield* HttpRouter.params
    return publicPage(request, publicListingPage(yield* businesses.page(slug, request.method !== "HEAD")))
  }))
