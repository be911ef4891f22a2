import { Authentication } from "#http/callers/Authentication.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import { ProjectNotFound } from "#src/projects/Project.ts"
import { BadRequest } from "#src/shared/Failure.ts"
import { PageOf, PageQuery } from "#src/shared/paging.ts"
import { PushedImage, PushedImageNamed, PushedImageNotFound } from "#src/uploads/PushedImage.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"

export class ImagesApi extends HttpApiGroup.make("images")
  .add(
    HttpApiEndpoint.get("list", "/v1/projects/:projectId/images")
      .setPath(Schema.Struct({ projectId: Schema.String }))
      .setUrlParams(PageQuery)
      .addSuccess(PageOf(PushedImage))
      .addError(BadRequest)
      .annotate(OpenApi.Summary, "List the images that were pushed to a project, by repository and digest")
      .annotate(
        OpenApi.Description,
        "Images are pushed to `/v2` by docker, skopeo, crane and their like (OCI distribution specification), with an " +
          "API key as password."
      )
  )
  .add(
    HttpApiEndpoint.del("remove", "/v1/projects/:projectId/images/:digest")
      .setPath(Schema.Struct({ projectId: Schema.String, digest: Schema.String }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(PushedImageNotFound)
      .addError(PushedImageNamed)
      .annotate(OpenApi.Summary, "Delete a pushed image with its tags, from every repository of the project")
  )
  .addError(ProjectNotFound)
  .addError(Forbidden)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Pushed images")
{}
