import { Data } from "#http/answers/envelope.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import {
  Business,
  BusinessNotFound,
  CreateBusiness,
  ServerAlreadyLinked,
  UpdateBusiness
} from "#src/businesses/Business.ts"
import { OwnListing, UpdateListing } from "#src/listings/Listing.ts"
import { PlanLimitReached } from "#src/plans/PlanLimitReached.ts"
import { ProjectNotFound } from "#src/projects/Project.ts"
import { BadRequest, Invalid } from "#src/shared/Failure.ts"
import { PageOf, PageQuery } from "#src/shared/paging.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"

export const businessPath = Schema.Struct({ businessId: Schema.String })
const root = "/api/v1/ready/businesses"

export class BusinessesApi extends HttpApiGroup.make("businesses")
  .add(
    HttpApiEndpoint.get("list", root)
      .setUrlParams(PageQuery)
      .addSuccess(PageOf(Business))
      .addError(BadRequest)
      .annotate(OpenApi.Summary, "List your businesses, newest first")
  )
  .add(
    HttpApiEndpoint.post("create", root)
      .setPayload(CreateBusiness)
      .addSuccess(Data(Business), { status: 201 })
      .addError(ProjectNotFound)
      .addError(PlanLimitReached)
      .addError(Invalid)
      .annotate(OpenApi.Summary, "Create a business in a project")
      .annotate(
        OpenApi.Description,
        "Session only, as all of these. Its listing is there at once, hidden (pending). " +
          "The plan limits businesses: 403 plan_limit_reached."
      )
  )
  .add(
    HttpApiEndpoint.get("get", `${root}/:businessId`)
      .setPath(businessPath)
      .addSuccess(Data(Business))
      .addError(BusinessNotFound)
      .annotate(OpenApi.Summary, "Read a business")
  )
  .add(
    HttpApiEndpoint.patch("update", `${root}/:businessId`)
      .setPath(businessPath)
      .setPayload(UpdateBusiness)
      .addSuccess(Data(Business))
      .addError(BusinessNotFound)
      .addError(ServerAlreadyLinked)
      .addError(Invalid)
      .annotate(OpenApi.Summary, "Change a business: profile, contact, hours, flags, integrations, linked server")
      .annotate(
        OpenApi.Description,
        "At least one field. What is not given stays, within contact, address and featureFlags too; hours and " +
          "integrations are replaced as a whole. Integrations are stored encrypted; only their names are ever shown, " +
          "but for your own ReadyConfig. A changed phone number is unverified."
      )
  )
  .add(
    HttpApiEndpoint.del("remove", `${root}/:businessId`)
      .setPath(businessPath)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(BusinessNotFound)
      .annotate(OpenApi.Summary, "Delete a business with its catalog and its listing; irreversible")
  )
  .add(
    HttpApiEndpoint.patch("updateListing", `${root}/:businessId/listing`)
      .setPath(businessPath)
      .setPayload(UpdateListing)
      .addSuccess(Data(OwnListing))
      .addError(BusinessNotFound)
      .addError(Invalid)
      .annotate(OpenApi.Summary, "Change how a business is listed: name, description, categories, tags, image")
      .annotate(
        OpenApi.Description,
        "At least one field. name and description follow the business until they are set, and again when null."
      )
  )
  .addError(Forbidden)
  .middleware(Authentication)
  .annotate(RouteTraits, { takes: "session" })
  .annotate(OpenApi.Title, "Businesses")
{}
