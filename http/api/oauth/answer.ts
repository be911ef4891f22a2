import { openHeaders } from "#http/answers/cors.ts"
import { type OAuthError } from "#src/oauth/OAuthError.ts"
import { HttpServerResponse } from "@effect/platform"

/** Token responses must not be cached (RFC 6749 §5.1). */
export const noStore = { "cache-control": "no-store", pragma: "no-cache" } as const

export const answer = (body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.unsafeJson(body, { status, headers: { ...openHeaders, ...noStore, ...headers } })

/** RFC 6749 §5.2: 400, but 401 for an unknown client or an invalid token. */
export const errorAnswer = ({ description, error }: OAuthError, headers: Readonly<Record<string, string>> = {}) => {
  const status = error === "invalid_client" || error === "invalid_token" ? 401 : 400
  return answer({ error, error_description: description }, status, headers)
}
