import { Data } from "#http/answers/envelope.ts"
import { Authentication } from "#http/callers/Authentication.ts"
import { RouteTraits } from "#http/traits/Traits.ts"
import {
  CreatedHubKey,
  HubKey,
  HubKeyInput,
  HubKeyNotFound,
  HubKeyRevoked,
  HubTierNotGiven,
  TooManyHubKeys
} from "#src/hub/HubKey.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"

const keyPath = Schema.Struct({ hubKeyId: Schema.String })
const paths = { all: "/api/v1/hub/api-keys", one: "/api/v1/hub/api-keys/:hubKeyId" } as const

/** In the OpenAPI document: the framework calls every body required. */
const bodyIsOptional = ({ requestBody, ...operation }: Record<string, unknown>) => ({
  ...operation,
  requestBody: { ...(requestBody as object), required: false }
})

const create = HttpApiEndpoint.post("create", paths.all)
  .setPayload(HubKeyInput)
  .addSuccess(Data(CreatedHubKey), { status: 201 })
  .addError(Invalid)
  .addError(HubTierNotGiven)
  .addError(TooManyHubKeys)
  .annotate(OpenApi.Summary, "Make a hub key")
  .annotate(RouteTraits, { optionalBody: true })
  .annotate(OpenApi.Transform, bodyIsOptional)
  .annotate(
    OpenApi.Description,
    "Session only; without a body the tier is explorer. The answer shows the key, once. At most 100 active keys an account."
  )

const list = HttpApiEndpoint.get("list", paths.all)
  .addSuccess(Data(Schema.Array(HubKey)))
  .annotate(OpenApi.Summary, "List your active hub keys, oldest first")

const revoke = HttpApiEndpoint.del("revoke", paths.one)
  .setPath(keyPath)
  .addSuccess(HttpApiSchema.NoContent)
  .addError(HubKeyNotFound)
  .addError(HubKeyRevoked)
  .annotate(OpenApi.Summary, "Revoke a hub key: it is rejected at once, for good")

export class HubKeysApi extends HttpApiGroup.make("hubKeys")
  .add(create)
  .add(list)
  .add(revoke)
  .add(
    HttpApiEndpoint.post("createByOldPath", "/api/v1/hub/keys")
      .setPayload(HubKeyInput)
      .addSuccess(Data(CreatedHubKey), { status: 201 })
      .addError(Invalid)
      .addError(HubTierNotGiven)
      .addError(TooManyHubKeys)
      .annotate(RouteTraits, { successor: paths.all, optionalBody: true })
      .annotate(OpenApi.Transform, bodyIsOptional)
      .annotate(OpenApi.Deprecated, true)
      .annotate(OpenApi.Summary, "Make a hub key; deprecated, use /api/v1/hub/api-keys")
  )
  .add(
    HttpApiEndpoint.get("listByOldPath", "/api/v1/hub/keys")
      .addSuccess(Data(Schema.Array(HubKey)))
      .annotate(RouteTraits, { successor: paths.all })
      .annotate(OpenApi.Deprecated, true)
      .annotate(OpenApi.Summary, "List your hub keys; deprecated, use /api/v1/hub/api-keys")
  )
  .add(
    HttpApiEndpoint.del("revokeByOldPath", "/api/v1/hub/keys/:hubKeyId")
      .setPath(keyPath)
      .addSuccess(HttpApiSchema.NoContent)
      .addError(HubKeyNotFound)
      .addError(HubKeyRevoked)
      .annotate(RouteTraits, { successor: paths.one })
      .annotate(OpenApi.Deprecated, true)
      .annotate(OpenApi.Summary, "Revoke a hub key; deprecated, use /api/v1/hub/api-keys")
  )
  .middleware(Authentication)
  .annotate(RouteTraits, { takes: "session", rate: "hub" })
  .annotate(OpenApi.Title, "Hub keys")
{}
