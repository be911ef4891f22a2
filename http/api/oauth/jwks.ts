import { openHeaders, preflight } from "#http/answers/cors.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { oauthPaths } from "#src/oauth/server-metadata.ts"
import { SigningKeys } from "#src/oauth/SigningKeys.ts"
import { HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

/** The public keys of access tokens (RFC 7517 §5). Public. */
export const jwks = Effect.map(
  SigningKeys,
  (keys) =>
    Effect.map(keys.jwks, (document) =>
      HttpServerResponse.unsafeJson(document, {
        headers: { ...openHeaders, "cache-control": "public, max-age=60" },
        contentType: "application/jwk-set+json"
      }))
)

export const JwksRoute = rawRoutes((add) =>
  Effect.gen(function*() {
    yield* add("GET", oauthPaths.jwks, { rate: "discovery", forMachines: true }, yield* jwks)
    yield* add("OPTIONS", oauthPaths.jwks, { rate: "discovery" }, Effect.succeed(preflight("GET, HEAD")))
  })
)
