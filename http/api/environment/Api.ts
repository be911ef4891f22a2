import { Data } from "#http/answers/envelope.ts"
import { serverPath } from "#http/api/servers/Api.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { Forbidden } from "#src/accounts/Policy.ts"
import {
  EnvironmentVariable,
  NamedVariable,
  TooManyVariables,
  VariableNotFound,
  VariableUpdate
} from "#src/servers/EnvironmentVariable.ts"
import { ServerNotFound } from "#src/servers/Server.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"

const namedPath = Schema.Struct({ serverId: Schema.String, name: Schema.String })

export class EnvironmentApi extends HttpApiGroup.make("environment")
  .add(
    HttpApiEndpoint.get("names", "/v1/servers/:serverId/env")
      .setPath(serverPath)
      .addSuccess(Data(Schema.Array(Schema.String)))
      .addError(ServerNotFound)
      .annotate(OpenApi.Summary, "List the names of a server's environment variables; values are never returned")
  )
  .add(
    HttpApiEndpoint.post("set", "/v1/servers/:serverId/env")
      .setPath(serverPath)
      .setPayload(NamedVariable)
      .addSuccess(Data(EnvironmentVariable), { status: 201 })
      .addSuccess(Data(EnvironmentVariable), { status: 200 })
      .addError(ServerNotFound)
      .addError(TooManyVariables)
      .addError(Invalid)
      .annotate(OpenApi.Summary, "Set an environment variable: 201 when new, 200 when it replaced one")
      .annotate(OpenApi.Description, "In effect from the next deployment. Reserved names are stored and ignored there.")
  )
  .add(
    HttpApiEndpoint.put("put", "/v1/servers/:serverId/env/:name")
      .setPath(namedPath)
      .setPayload(VariableUpdate)
      .addSuccess(Data(EnvironmentVariable), { status: 201 })
      .addSuccess(Data(EnvironmentVariable), { status: 200 })
      .addError(ServerNotFound)
      .addError(TooManyVariables)
      .addError(Invalid)
      .annotate(OpenApi.Summary, "Set the environment variable of the path: 201 when new, 200 when it replaced one")
  )
  .add(
    HttpApiEndpoint.del("remove", "/v1/servers/:serverId/env/:name")
      .setPath(namedPath)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(ServerNotFound)
      .addError(VariableNotFound)
      .annotate(OpenApi.Summary, "Delete an environment variable; in effect from the next deployment")
  )
  .addError(Forbidden)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Environment variables")
{}
