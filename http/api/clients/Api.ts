import { Data } from "#http/answers/envelope.ts"
import { serverPath } from "#http/api/servers/Api.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import { ClientMetadataError, PreRegisteredClient, PreRegistration, TooManyClients } from "#src/oauth/Client.ts"
import { ServerNotFound } from "#src/servers/Server.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"

export class ClientsApi extends HttpApiGroup.make("clients")
  .add(
    HttpApiEndpoint.post("register", "/api/v1/servers/:serverId/clients")
      .setPath(serverPath)
      .setPayload(PreRegistration)
      .addSuccess(Data(PreRegisteredClient), { status: 201 })
      .addError(ServerNotFound)
      .addError(ClientMetadataError)
      .addError(TooManyClients)
      .annotate(OpenApi.Summary, "Register an OAuth client for a server by the URL of its metadata document")
      .annotate(
        OpenApi.Description,
        "Session only. The document is fetched and validated at once. The server trusts the client from then on: " +
          "its users need not approve it, unless its redirect leads to their own machine or to an app. " +
          "Registering it again fetches the document again and keeps registeredAt."
      )
  )
  .addError(Forbidden)
  .middleware(Authentication)
  .annotate(RouteTraits, { takes: "session" })
  .annotate(OpenApi.Title, "OAuth clients")
{}
