import { Data } from "#http/answers/envelope.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import { DirectoryQuery, FacetsQuery } from "#src/directory/DirectoryQuery.ts"
import { Facets } from "#src/directory/Facets.ts"
import { MetadataQuery, NoSuchServer, ServerMetadata } from "#src/directory/ServerMetadata.ts"
import { ListedListing, ListingDetail, ListingNotFound, SetVisible, Visibility } from "#src/listings/Listing.ts"
import { BadRequest, Invalid } from "#src/shared/Failure.ts"
import { PageOf } from "#src/shared/paging.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"

const listingPath = Schema.Struct({ listingId: Schema.String })

export class DirectoryApi extends HttpApiGroup.make("directory")
  .add(
    HttpApiEndpoint.get("list", "/v1/directory")
      .setUrlParams(DirectoryQuery)
      .addSuccess(PageOf(ListedListing))
      .addError(BadRequest)
      .annotate(RouteTraits, { credential: "hub", rate: "directory", openToPages: true })
      .annotate(OpenApi.Summary, "Search the directory of businesses")
      .annotate(
        OpenApi.Description,
        "Public, 300 requests a minute per IP address. Filters combine freely. Best first: by relevanceScore, then the " +
          "older. With search its words decide before that: those in the name first, exact before beginnings before typos, " +
          "fewer other words in the name. `sort=distance` lists the nearest first instead. A cursor goes with the filters " +
          "and the order it was given for."
      )
  )
  .add(
    HttpApiEndpoint.get("facets", "/v1/directory/facets")
      .setUrlParams(FacetsQuery)
      .addSuccess(Data(Facets))
      .addError(BadRequest)
      .annotate(RouteTraits, { credential: "hub", rate: "directory", openToPages: true })
      .annotate(OpenApi.Summary, "Count the categories, kinds and cities of a search")
      .annotate(
        OpenApi.Description,
        "Public, 300 requests a minute per IP address, together with the list. Takes the filters of the list, and tells " +
          "which values the listings that match have, at most 50 of each: what else can be asked for."
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/v1/directory/:listingId")
      .setPath(listingPath)
      .addSuccess(Data(ListingDetail))
      .addError(ListingNotFound)
      .annotate(RouteTraits, { credential: "hub", rate: "directory", openToPages: true })
      .annotate(OpenApi.Summary, "Read a listing")
      .annotate(OpenApi.Description, "Public, 300 requests a minute per IP address, together with the list.")
  )
  .add(
    HttpApiEndpoint.get("serverMetadata", "/.well-known/mcp-server-metadata")
      .setUrlParams(MetadataQuery)
      .addSuccess(ServerMetadata)
      .addError(BadRequest)
      .addError(NoSuchServer)
      .annotate(RouteTraits, { credential: "hub", openToPages: true })
      .annotate(OpenApi.Summary, "Describe the MCP server of a business that is listed")
      .annotate(OpenApi.Description, "Public. The object itself, not in `data`.")
  )
  .add(
    HttpApiEndpoint.patch("setVisible", "/v1/directory/:listingId")
      .setPath(listingPath)
      .setPayload(SetVisible)
      .addSuccess(Data(Visibility))
      .addError(ListingNotFound)
      .addError(Invalid)
      .addError(Forbidden)
      .middleware(Authentication)
      .annotate(RouteTraits, { takes: "session" })
      .annotate(OpenApi.Summary, "Show a listing in the directory, or hide it")
      .annotate(OpenApi.Description, "Session only. publishedAt is the time it was first shown, and stays.")
  )
  .annotate(OpenApi.Title, "Directory")
{}
