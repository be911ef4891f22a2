import { SigningKeys } from "#src/oauth/SigningKeys.ts"
import { HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

/** `GET /api/v1/oauth/jwks`: the keys that access tokens are signed with (RFC 7517 §5). Anybody may read it. */
export const jwks = Effect.map(
  SigningKeys,
  (keys) =>
    Effect.map(keys.jwks, (document) =>
      HttpServerResponse.unsafeJson(document, {
        headers: { "cache-control": "public, max-age=60", "access-control-allow-origin": "*" },
        contentType: "application/jwk-set+json"
      }))
)
