import { CurrentSettings, type Settings } from "#src/Config.ts"
import { wellKnown } from "#src/gateway/address.ts"
import { documentUrl } from "#src/gateway/resource-metadata.ts"
import {
  type Door,
  doors,
  platformResourceMetadata,
  platformResources,
  platformScopes
} from "#src/oauth/platform-resource.ts"
import { challengedScopes } from "#src/oauth/scopes.ts"
import { HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

/** Which document a client is shown: that of the address it used. */
const doorOf = (path: string): Door => path.startsWith("/sse") || path.startsWith("/message") ? "sse" : "mcp"

/**
 * `WWW-Authenticate` of a 401 at our MCP door (RFC 9728 §5.1, RFC 6750 §3). It names every scope, since a client asks
 * for what it is told; whoever approves decides. Without credentials there is no `error`.
 */
export const doorChallenge = (settings: Settings, path: string, error?: string) =>
  [
    `Bearer resource_metadata="${documentUrl(platformResources(settings)[doorOf(path)])}"`,
    `scope="${challengedScopes(platformScopes)}"`,
    ...(error === undefined ? [] : [`error="${error}"`])
  ].join(", ")

/** Anybody may read a metadata document, a page of elsewhere too; it asks first when it sends a header of MCP. */
const open = { "access-control-allow-origin": "*" }
const preflight = HttpServerResponse.empty({
  status: 204,
  headers: {
    ...open,
    "access-control-allow-methods": "GET, HEAD, OPTIONS",
    "access-control-allow-headers": "Authorization, MCP-Protocol-Version, *",
    "access-control-max-age": "86400"
  }
})

/** The documents of our MCP door: for each address, and at the root for clients that look nowhere else. */
export const PlatformResourceRoutes = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function*() {
    const settings = yield* CurrentSettings
    const documentOf = (door: Door) =>
      HttpServerResponse.unsafeJson(platformResourceMetadata(settings, door), {
        headers: { ...open, "cache-control": "public, max-age=300" }
      })
    const publish = (path: string, door: Door) =>
      Effect.all([
        router.get(path as `/${string}`, Effect.succeed(documentOf(door))),
        router.options(path as `/${string}`, Effect.succeed(preflight))
      ], { discard: true })
    yield* publish(wellKnown, "mcp")
    for (const door of doors) yield* publish(new URL(documentUrl(platformResources(settings)[door])).pathname, door)
  })
)
