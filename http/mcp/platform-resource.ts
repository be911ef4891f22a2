import { openHeaders, preflight } from "#http/answers/cors.ts"
import { pathOf } from "#http/connection/path-of.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { CompositeNotFound } from "#src/composites/Composite.ts"
import { CurrentSettings, type Settings } from "#src/config/Settings.ts"
import {
  apiResource,
  compositeResource,
  compositeResourceMetadata,
  type McpEndpoint,
  platformResourceMetadata,
  platformResources,
  platformScopes
} from "#src/oauth/scopes/platform-resource.ts"
import { challengedScopes, mcpScopes } from "#src/oauth/scopes/scopes.ts"
import { documentUrl, protectedResource } from "#src/shared/well-known.ts"
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

/** The endpoint that a request used. */
const endpointOf = (path: string): McpEndpoint => path.startsWith("/sse") || path.startsWith("/message") ? "sse" : "mcp"

/** Clients compare `resource` with the URL that they were given, whose slash at the end is theirs (RFC 9728 §3.3). */
const slashOf = (url: string) => pathOf(url).endsWith("/") ? "/" : ""

/** The resource at a request's URL: a composite, or our own endpoint. */
export const mcpResource = (settings: Settings, url: string) =>
  (compositeResource(settings, url) ?? platformResources(settings)[endpointOf(url)]) + slashOf(url)

/**
 * `WWW-Authenticate` of a 401 at our MCP endpoints (RFC 9728 §5.1, RFC 6750 §3). It names every scope, since clients
 * request the scopes listed here; the user decides. Without credentials there is no `error`.
 */
export const mcpChallenge = (settings: Settings, path: string, error?: string) => {
  const isComposite = compositeResource(settings, path) !== undefined
  return [
    `Bearer resource_metadata="${documentUrl(mcpResource(settings, path))}"`,
    `scope="${challengedScopes(isComposite ? mcpScopes : platformScopes)}"`,
    ...(error === undefined ? [] : [`error="${error}"`])
  ].join(", ")
}

/**
 * The metadata of our MCP endpoints and our API: for each URL, and at the root, for clients that look nowhere else, that of
 * `/mcp`.
 */
export const PlatformResourceRoutes = rawRoutes((add) =>
  Effect.gen(function*() {
    const settings = yield* CurrentSettings
    const headers = { ...openHeaders, "cache-control": "public, max-age=300" }
    const publish = (path: string, resource: string) =>
      Effect.all([
        add(
          "GET",
          path,
          { forMachines: true },
          Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) => {
            const named = path === protectedResource ? resource : resource + slashOf(url)
            return HttpServerResponse.unsafeJson(platformResourceMetadata(settings, named), { headers })
          })
        ),
        add("OPTIONS", path, {}, Effect.succeed(preflight("GET, HEAD")))
      ], { discard: true })
    const composites = new URL(documentUrl(`${settings.baseUrl}/mcp/composites/:compositeId`)).pathname
    yield* add(
      "GET",
      composites,
      { forMachines: true },
      Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) => {
        const resource = compositeResource(settings, url)
        return resource === undefined
          ? new CompositeNotFound({})
          : Effect.succeed(
            HttpServerResponse.unsafeJson(compositeResourceMetadata(settings, resource + slashOf(url)), { headers })
          )
      })
    )
    yield* add("OPTIONS", composites, {}, Effect.succeed(preflight("GET, HEAD")))
    const resources = platformResources(settings)
    yield* publish(protectedResource, resources.mcp)
    for (const resource of [...Object.values(resources), apiResource(settings)]) {
      yield* publish(new URL(documentUrl(resource)).pathname, resource)
    }
  })
)
