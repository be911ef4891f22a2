import { Forbidden } from "#src/accounts/Policy.ts"
import { ListingNotFound, SetVisible, Visibility } from "#src/directory/Listing.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Authentication } from "../Authentication.ts"
import { Data } from "../envelope.ts"

const listingPath = Schema.Struct({ listingId: Schema.String })

export class DirectoryApi extends HttpApiGroup.make("directory")
  .add(
    HttpApiEndpoint.patch("setVisible", "/v1/directory/:listingId")
      .setPath(listingPath)
      .setPayload(SetVisible)
      .addSuccess(Data(Visibility))
      .addError(ListingNotFound)
      .addError(Invalid)
      .addError(Forbidden)
      .middleware(Authentication)
      .annotate(OpenApi.Summary, "Show a listing in the directory, or hide it")
      .annotate(OpenApi.Description, "Session only. publishedAt is the time it was first shown, and stays.")
  )
  .annotate(OpenApi.Title, "Directory")
{}
