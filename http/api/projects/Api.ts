import { Data } from "#http/answers/envelope.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import { PlanLimitReached } from "#src/plans/PlanLimitReached.ts"
import { ApiKey, ApiKeyInput, ApiKeyNotFound, CreatedApiKey, TooManyKeys } from "#src/projects/ApiKey.ts"
import { Project, ProjectInput, ProjectNotFound } from "#src/projects/Project.ts"
import { BadRequest } from "#src/shared/Failure.ts"
import { PageOf, PageQuery } from "#src/shared/paging.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"

const path = Schema.Struct({ projectId: Schema.String })

export class ProjectsApi extends HttpApiGroup.make("projects")
  .add(
    HttpApiEndpoint.get("list", "/v1/projects")
      .setUrlParams(PageQuery)
      .addSuccess(PageOf(Project))
      .addError(BadRequest)
      .annotate(OpenApi.Summary, "List projects, newest first")
  )
  .add(
    HttpApiEndpoint.post("create", "/v1/projects")
      .setPayload(ProjectInput)
      .addSuccess(Data(Project), { status: 201 })
      .addError(PlanLimitReached)
      .annotate(OpenApi.Summary, "Create a project")
      .annotate(
        OpenApi.Description,
        "Session only: an API key belongs to one project and can't make another (403). The plan limits projects: " +
          "403 PLAN_LIMIT_REACHED."
      )
  )
  .add(
    HttpApiEndpoint.get("get", "/v1/projects/:projectId")
      .setPath(path)
      .addSuccess(Data(Project))
      .addError(ProjectNotFound)
      .annotate(OpenApi.Summary, "Read a project")
  )
  .add(
    HttpApiEndpoint.patch("update", "/v1/projects/:projectId")
      .setPath(path)
      .setPayload(ProjectInput)
      .addSuccess(Data(Project))
      .addError(ProjectNotFound)
      .annotate(OpenApi.Summary, "Rename a project")
  )
  .add(
    HttpApiEndpoint.del("remove", "/v1/projects/:projectId")
      .setPath(path)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(ProjectNotFound)
      .annotate(OpenApi.Summary, "Delete a project with its servers, deployments and API keys; irreversible")
  )
  .add(
    HttpApiEndpoint.get("listKeys", "/v1/projects/:projectId/keys")
      .setPath(path)
      .setUrlParams(PageQuery)
      .addSuccess(PageOf(ApiKey))
      .addError(ProjectNotFound)
      .addError(BadRequest)
      .annotate(RouteTraits, { takes: "session" })
      .annotate(OpenApi.Summary, "List a project's API keys, newest first (session only)")
  )
  .add(
    HttpApiEndpoint.post("createKey", "/v1/projects/:projectId/keys")
      .setPath(path)
      .setPayload(ApiKeyInput)
      .addSuccess(Data(CreatedApiKey), { status: 201 })
      .addError(ProjectNotFound)
      .addError(TooManyKeys)
      .annotate(RouteTraits, { takes: "session" })
      .annotate(OpenApi.Summary, "Create an API key (session only); `key` is shown this once")
      .annotate(
        OpenApi.Description,
        "A key that an OAuth client makes over MCP has the `grantId` of what its user allowed it, and ends with that."
      )
  )
  .add(
    HttpApiEndpoint.del("removeKey", "/v1/keys/:keyId")
      .setPath(Schema.Struct({ keyId: Schema.String }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(ApiKeyNotFound)
      .annotate(RouteTraits, { takes: "session" })
      .annotate(OpenApi.Summary, "Delete an API key (session only); it stops working at once")
  )
  .addError(Forbidden)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Projects and API keys")
{}
