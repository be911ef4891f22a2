import { SigningKeys } from "#src/oauth/SigningKeys.ts"
import { HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { openHeaders } from "../cors.ts"

/** `GET /api/v1/oauth/jwks`: the keys that access tokens are signed with (RFC 7517 §5). Anybody may read it. */
export const jwks = Effect.map(
  SigningKeys,
  (keys) =>
    Effect.map(keys.jwks, (document) =>
      HttpServerResponse.unsafeJson(document, {
        headers: { ...openHeaders, "cache-control": "public, max-age=60" },
        contentType: "application/jwk-set+json"
      }))
)
