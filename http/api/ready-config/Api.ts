import { Data } from "#http/answers/envelope.ts"
import { businessPath } from "#http/api/businesses/Api.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import { BusinessNotFound } from "#src/businesses/Business.ts"
import { ConfigNotGenerated } from "#src/businesses/ReadyConfigs.ts"
import { ReadyConfig } from "#src/format/ReadyConfig.ts"
import { BadRequest } from "#src/shared/Failure.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"

export class ReadyConfigApi extends HttpApiGroup.make("readyConfig")
  .add(
    HttpApiEndpoint.get("get", "/api/v1/ready/businesses/:businessId/config")
      .setPath(businessPath)
      .addSuccess(Data(ReadyConfig))
      .addError(BadRequest)
      .addError(BusinessNotFound)
      .addError(ConfigNotGenerated)
      .addError(Forbidden)
      .middleware(Authentication)
      .annotate(OpenApi.Summary, "Read a business's configuration (ReadyConfig 2.0), as its server is deployed with it")
      .annotate(
        OpenApi.Description,
        "A session, or an API key with the scope servers:read. It is made from what is stored at each read, once a " +
          "server is linked (404 config_not_generated before); an answer may be kept for 10 seconds. integrations " +
          "are in clear here, and nowhere else: for a session, and for a key that has servers:write too. Without it " +
          "they are left out."
      )
  )
  .annotate(OpenApi.Title, "ReadyConfig")
{}
