import { Data } from "#http/answers/envelope.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import {
  ImageRegistry,
  ImageRegistryExists,
  ImageRegistryInput,
  ImageRegistryInUse,
  ImageRegistryNotFound,
  ImageRegistryUpdate,
  TooManyRegistries
} from "#src/registries/ImageRegistry.ts"
import { BadRequest, Invalid } from "#src/shared/Failure.ts"
import { PageOf, PageQuery } from "#src/shared/paging.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"

const path = Schema.Struct({ registryId: Schema.String })

export class RegistriesApi extends HttpApiGroup.make("registries")
  .add(
    HttpApiEndpoint.get("list", "/v1/registries")
      .setUrlParams(PageQuery)
      .addSuccess(PageOf(ImageRegistry))
      .addError(BadRequest)
      .annotate(OpenApi.Summary, "List your credentials for private image registries, newest first (session only)")
  )
  .add(
    HttpApiEndpoint.post("create", "/v1/registries")
      .setPayload(ImageRegistryInput)
      .addSuccess(Data(ImageRegistry), { status: 201 })
      .addError(ImageRegistryExists)
      .addError(TooManyRegistries)
      .annotate(OpenApi.Summary, "Add credentials for a private image registry (session only)")
      .annotate(
        OpenApi.Description,
        "Deployments of your servers use them for images of that host. Further ones for a host have a name, and are for " +
          "servers that name them (registryCredential); at most 50. The password is stored encrypted and never returned."
      )
  )
  .add(
    HttpApiEndpoint.patch("update", "/v1/registries/:registryId")
      .setPath(path)
      .setPayload(ImageRegistryUpdate)
      .addSuccess(Data(ImageRegistry))
      .addError(Invalid)
      .addError(ImageRegistryNotFound)
      .annotate(
        OpenApi.Summary,
        "Change the user or the password; it counts from the next deployment on (session only)"
      )
  )
  .add(
    HttpApiEndpoint.del("remove", "/v1/registries/:registryId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(ImageRegistryNotFound)
      .addError(ImageRegistryInUse)
      .annotate(OpenApi.Summary, "Delete credentials for an image registry that no server names (session only)")
  )
  .addError(Forbidden)
  .middleware(Authentication)
  .annotate(RouteTraits, { takes: "session" })
  .annotate(OpenApi.Title, "Private image registries")
{}
