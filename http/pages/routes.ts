import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { Effect } from "effect"
import { makeAuthorize } from "./authorize.ts"
import { makeCheckout } from "./checkout.ts"
import { makeGrants } from "./grants.ts"
import { makeListings } from "./listings.ts"
import { makePublicListing } from "./public-listing.ts"
import { makeSignIn } from "./sign-in.ts"
import { makeUsage } from "./usage.ts"

/** The pages for people: access of applications, payments, what happened to their listings, and a listing itself. */
export const PagesRoutes = rawRoutes((add) =>
  Effect.gen(function*() {
    const authorize = yield* makeAuthorize
    const signIn = yield* makeSignIn(authorize)
    const checkout = yield* makeCheckout
    const grants = yield* makeGrants
    const listings = yield* makeListings
    const usage = yield* makeUsage
    const publicListing = yield* makePublicListing

    yield* add("GET", "/api/v1/oauth/authorize", {}, authorize.authorize)
    yield* add("POST", "/oauth/consent", {}, authorize.decide)
    yield* add("GET", "/oauth/sign-in", {}, signIn.show("sign-in"))
    yield* add("POST", "/oauth/sign-in", {}, signIn.enter("sign-in"))
    yield* add("GET", "/oauth/sign-up", {}, signIn.show("sign-up"))
    yield* add("POST", "/oauth/sign-up", {}, signIn.enter("sign-up"))
    yield* add("GET", "/oauth/grants", {}, grants.show)
    yield* add("POST", "/oauth/grants", {}, grants.revoke)
    yield* add("POST", "/oauth/sign-out", {}, grants.signOut)
    yield* add("GET", "/billing/checkout/:checkoutId", {}, checkout.show)
    yield* add("POST", "/billing/checkout/:checkoutId", {}, checkout.decide)
    yield* add("GET", "/billing/return/:checkoutId", {}, checkout.returned)
    yield* add("GET", "/billing/usage", {}, usage)
    yield* add("GET", "/hub/listings", {}, listings.list)
    yield* add("GET", "/hub/listings/:listingId", {}, listings.show)
    yield* add("GET", "/listings/:slug", { credential: "hub", rate: "directory" }, publicListing)
  })
)
