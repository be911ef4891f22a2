import { Data } from "#http/answers/envelope.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { NoBody } from "#http/callers/NoBody.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import { Grant, GrantNotFound } from "#src/oauth/Grant.ts"
import { BadRequest } from "#src/shared/Failure.ts"
import { PageOf, PageQuery } from "#src/shared/paging.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"

export class GrantsApi extends HttpApiGroup.make("grants")
  .add(
    HttpApiEndpoint.get("list", "/v1/auth/grants")
      .setUrlParams(PageQuery)
      .addSuccess(PageOf(Grant))
      .addError(BadRequest)
      .annotate(OpenApi.Summary, "List your grants to OAuth clients, newest first")
  )
  .add(
    HttpApiEndpoint.del("revoke", "/v1/auth/grants/:grantId")
      .setPath(Schema.Struct({ grantId: Schema.String }))
      .addSuccess(HttpApiSchema.NoContent)
      .addError(GrantNotFound)
      .annotate(
        OpenApi.Summary,
        "Revoke a grant: the client's tokens and the API keys it made end at once, and it must ask again"
      )
  )
  .add(
    HttpApiEndpoint.post("renew", "/v1/auth/grants/:grantId/renew")
      .setPath(Schema.Struct({ grantId: Schema.String }))
      .addSuccess(Data(Grant))
      .addError(GrantNotFound)
      .middleware(NoBody)
      .annotate(OpenApi.Summary, "Take back the revocation of a grant to composites or token exchange")
  )
  .addError(Forbidden)
  .middleware(Authentication)
  .annotate(RouteTraits, { takes: "session" })
  .annotate(OpenApi.Title, "Grants")
{}
