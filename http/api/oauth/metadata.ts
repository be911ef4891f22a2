import { openHeaders, preflight } from "#http/answers/cors.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { metadataPaths, openidMetadata, serverMetadata } from "#src/oauth/server-metadata.ts"
import { HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

/** The authorization server's metadata at every path that clients look at (RFC 8414 §3; MCP 2025-11-25). */
export const MetadataRoutes = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function*() {
    const settings = yield* CurrentSettings
    const publish = (paths: ReadonlyArray<string>, document: unknown) =>
      Effect.forEach(paths, (path) =>
        Effect.all([
          router.get(
            path as `/${string}`,
            Effect.succeed(HttpServerResponse.unsafeJson(document, {
              headers: { ...openHeaders, "cache-control": "public, max-age=300" }
            }))
          ),
          router.options(path as `/${string}`, Effect.succeed(preflight("GET, HEAD")))
        ], { discard: true }), { discard: true })
    const paths = metadataPaths(settings.authUrl)
    yield* publish(paths.server, serverMetadata(settings))
    yield* publish(paths.openid, openidMetadata(settings))
  })
)
