import { openHeaders, preflight } from "#http/answers/cors.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { metadataPaths, openidMetadata, serverMetadata } from "#src/oauth/server-metadata.ts"
import { HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

/** The authorization server's metadata at every path that clients try (RFC 8414 §3; MCP 2025-11-25). */
export const MetadataRoutes = rawRoutes((add) =>
  Effect.gen(function*() {
    const settings = yield* CurrentSettings
    const publish = (paths: ReadonlyArray<string>, document: unknown) => {
      const answer = HttpServerResponse.unsafeJson(document, {
        headers: { ...openHeaders, "cache-control": "public, max-age=300" }
      })
      return Effect.forEach(paths, (path) =>
        Effect.all([
          add("GET", path, { forMachines: true }, Effect.succeed(answer)),
          add("OPTIONS", path, {}, Effect.succeed(preflight("GET, HEAD")))
        ], { discard: true }), { discard: true })
    }
    const paths = metadataPaths(settings.authUrl)
    yield* publish(paths.server, serverMetadata(settings))
    yield* publish(paths.openid, openidMetadata(settings))
  })
)
