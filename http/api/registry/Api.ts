import { RouteTraits } from "#http/traits/Traits.ts"
import { RegistryEntry, RegistryPage, RegistryQuery, UnknownRegistryServer } from "#src/directory/RegistryEntry.ts"
import { BadRequest } from "#src/shared/Failure.ts"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"

const name = { serverName: Schema.String }

/** The MCP registry's read API over the directory (its public OpenAPI document, version 0.1). */
export class RegistryApi extends HttpApiGroup.make("registry")
  .add(
    HttpApiEndpoint.get("list", "/v0.1/servers")
      .setUrlParams(RegistryQuery)
      .addSuccess(RegistryPage)
      .addError(BadRequest)
      .annotate(OpenApi.Summary, "List the servers of listed businesses, as an MCP registry")
  )
  .add(
    HttpApiEndpoint.get("versions", "/v0.1/servers/:serverName/versions")
      .setPath(Schema.Struct(name))
      .addSuccess(RegistryPage)
      .addError(UnknownRegistryServer)
      .annotate(OpenApi.Summary, "List a server's versions: the one that serves")
  )
  .add(
    HttpApiEndpoint.get("version", "/v0.1/servers/:serverName/versions/:version")
      .setPath(Schema.Struct({ ...name, version: Schema.String }))
      .addSuccess(RegistryEntry)
      .addError(UnknownRegistryServer)
      .annotate(OpenApi.Summary, "Read a server's version; `latest` is the one that serves")
  )
  .annotate(RouteTraits, { query: "any" })
  .annotate(OpenApi.Title, "MCP registry")
{}
