import { Authentication } from "#http/callers/Authentication.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { CompositesParameters } from "#src/composites/CompositesQuery.ts"
import { DynamicPage } from "#src/composites/DynamicComposite.ts"
import { BadCompositeQuery } from "#src/composites/QueryDefinition.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"

export class HubCompositesQueryApi extends HttpApiGroup.make("hubCompositesQuery")
  .add(
    HttpApiEndpoint.get("query", "/v1/hub/composites")
      .setUrlParams(CompositesParameters)
      .addSuccess(DynamicPage)
      .addError(BadCompositeQuery)
      .annotate(RouteTraits, { credential: "hub", rate: "hub" })
      .annotate(OpenApi.Summary, "Compute composites: listings of a vertical in a city, as one")
      .annotate(
        OpenApi.Description,
        "With a hub key. Listings that match and have a health score of 50 or more, grouped by vertical, state and city, as " +
          "they are at this moment. Best first: compositeTrust (the lowest verification tier) × avgHealthScore × the mean " +
          "weight of the listing tiers (basic 1, featured 2, premium 3), then by id. A cursor goes with the filters it was " +
          "given for."
      )
  )
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Hub composites")
{}
