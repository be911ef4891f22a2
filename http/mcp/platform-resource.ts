import { openHeaders, preflight } from "#http/answers/cors.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { CurrentSettings, type Settings } from "#src/config/Settings.ts"
import {
  type Door,
  doors,
  platformResourceMetadata,
  platformResources,
  platformScopes
} from "#src/oauth/scopes/platform-resource.ts"
import { challengedScopes } from "#src/oauth/scopes/scopes.ts"
import { documentUrl, protectedResource } from "#src/shared/well-known.ts"
import { HttpServerResponse } from "@effect/platform"
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

/** The documents of our MCP door: for each address, and at the root for clients that look nowhere else. */
export const PlatformResourceRoutes = rawRoutes((add) =>
  Effect.gen(function*() {
    const settings = yield* CurrentSettings
    const documentOf = (door: Door) =>
      HttpServerResponse.unsafeJson(platformResourceMetadata(settings, door), {
        headers: { ...openHeaders, "cache-control": "public, max-age=300" }
      })
    const publish = (path: string, door: Door) =>
      Effect.all([
        add("GET", path, { forMachines: true }, Effect.succeed(documentOf(door))),
        add("OPTIONS", path, {}, Effect.succeed(preflight("GET, HEAD")))
      ], { discard: true })
    yield* publish(protectedResource, "mcp")
    for (const door of doors) yield* publish(new URL(documentUrl(platformResources(settings)[door])).pathname, door)
  })
)
