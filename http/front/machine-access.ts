import { machineBehind } from "#http/callers/machine-caller.ts"
import { type Settings } from "#src/config/Settings.ts"
import { platformResources } from "#src/oauth/scopes/platform-resource.ts"
import { metadataPaths, oauthPaths } from "#src/oauth/server-metadata.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { documentUrl, protectedResource } from "#src/shared/well-known.ts"
import { type HttpApp, HttpServerRequest } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Effect, Schema } from "effect"

/** A machine asked for what is not for machines. */
export class NotForMachines extends Schema.TaggedError<NotForMachines>()("NotForMachines", {}, failsWith(403)) {
  override get message() {
    return "From inside a machine only token introspection, the signing keys, the metadata documents and the server's " +
      "own configuration (/api/v1/ready/self/config) can be reached"
  }
}

/** Whether a request is one that hosted servers have a use for. Paths are compared to the letter, query aside. */
const allowList = (settings: Settings) => {
  const { openid, server } = metadataPaths(settings.authUrl)
  const resources = Object.values(platformResources(settings)).map((url) => new URL(documentUrl(url)).pathname)
  const reads = new Set([
    oauthPaths.jwks,
    "/api/v1/ready/self/config",
    protectedResource,
    ...server,
    ...openid,
    ...resources
  ])
  return ({ method, url }: HttpServerRequest.HttpServerRequest) => {
    const path = url.split("?", 1)[0] ?? ""
    return method === "POST"
      ? path === oauthPaths.introspect
      : (method === "GET" || method === "HEAD") && reads.has(path)
  }
}

/**
 * What machines may ask for: nothing by which they would act as anybody's client, or have the platform fetch from
 * elsewhere (docs/decisions/what-a-machine-reaches.md). Everybody else passes.
 */
export const restrictsMachines = (settings: Settings) => {
  const allows = allowList(settings)
  return <E, R>(app: HttpApp.Default<E, R>) =>
    Effect.gen(function*() {
      const request = yield* HttpServerRequest.HttpServerRequest
      const machine = machineBehind(NodeHttpServerRequest.toIncomingMessage(request), settings.trustProxy)
      return machine === undefined || allows(request) ? yield* app : yield* new NotForMachines()
    })
}
