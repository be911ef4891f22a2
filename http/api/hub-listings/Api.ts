import { RouteTraits } from "#http/traits/Traits.ts"
import { BadListingId, NoReferral } from "#src/hub/ListingSkills.ts"
import { ListingNotFound } from "#src/listings/Listing.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"

const listingPath = Schema.Struct({ listingId: Schema.String })

export class HubListingsApi extends HttpApiGroup.make("hubListings")
  .add(
    HttpApiEndpoint.get("skill", "/api/v1/hub/listings/:listingId/skill.md")
      .setPath(listingPath)
      .addSuccess(HttpApiSchema.Text({ contentType: "text/markdown; charset=utf-8" }))
      .addError(BadListingId)
      .addError(ListingNotFound)
      .annotate(RouteTraits, { openToPages: true })
      .annotate(OpenApi.Summary, "Read a listing as a skill for agents (SKILL.md)")
      .annotate(
        OpenApi.Description,
        "Public. Markdown with YAML frontmatter of `hub:` keys. A GET counts as a click on the listing, a HEAD does not. " +
          "Has an ETag; `X-Hub-` headers repeat id, tier, verification tier, health score and the hub's root."
      )
  )
  .add(
    HttpApiEndpoint.get("referral", "/api/v1/hub/listings/:listingId/referral")
      .setPath(listingPath)
      .addSuccess(HttpApiSchema.Empty(302))
      .addError(BadListingId)
      .addError(ListingNotFound)
      .addError(NoReferral)
      .annotate(RouteTraits, { query: "any" })
      .annotate(OpenApi.Summary, "Go to a listing's website, or to its server")
      .annotate(OpenApi.Description, "Public. 302; counts as a referral of the listing, once an hour for an address.")
  )
  .annotate(RouteTraits, { credential: "hub", rate: "hub" })
  .annotate(OpenApi.Title, "Hub listings")
{}
