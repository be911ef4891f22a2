import { openHeaders } from "#http/answers/cors.ts"
import { SigningKeys } from "#src/oauth/SigningKeys.ts"
import { HttpApiBuilder, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

/** The keys that access tokens are signed with (RFC 7517 §5). Anybody may read it. */
export const jwks = Effect.map(
  SigningKeys,
  (keys) =>
    Effect.map(keys.jwks, (document) =>
      HttpServerResponse.unsafeJson(document, {
        headers: { ...openHeaders, "cache-control": "public, max-age=60" },
        contentType: "application/jwk-set+json"
      }))
)

export const JwksRoute = HttpApiBuilder.Router.use((router) =>
  Effect.flatMap(jwks, (answer) => router.get("/api/v1/oauth/jwks", answer))
)
