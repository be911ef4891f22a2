import { openHeaders, preflight } from "#http/answers/cors.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { OAuthClients } from "#src/oauth/Clients.ts"
import { oauthPaths } from "#src/oauth/server-metadata.ts"
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"

/** RFC 7591 §3.2: neither a registration nor an error may be cached. */
const answer = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.unsafeJson(body, {
    status,
    headers: { ...openHeaders, "cache-control": "no-store", pragma: "no-cache", ...headers }
  })

const errorAnswer = (status: number, error: string, description: string, headers?: Readonly<Record<string, string>>) =>
  answer(status, { error, error_description: description }, headers)

const notJson = errorAnswer(400, "invalid_client_metadata", "The body is not JSON")

const register = (clients: OAuthClients) =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const metadata = yield* Effect.flatMap(request.text, (text) => Effect.try((): unknown => JSON.parse(text)))
    return answer(201, yield* clients.register(metadata))
  }).pipe(Effect.catchTags({
    RequestError: () => Effect.succeed(notJson),
    UnknownException: () => Effect.succeed(notJson),
    RegistrationError: ({ description, error }) => Effect.succeed(errorAnswer(400, error, description)),
    TooManyRegistrations: ({ message, retryAfter }) =>
      Effect.succeed(errorAnswer(429, "temporarily_unavailable", message, { "retry-after": String(retryAfter) }))
  }))

/**
 * `POST /api/v1/oauth/register`: dynamic client registration (RFC 7591 §3), open to anybody, rate-limited by address.
 * Pages of any origin may register: cookies are ignored, and the response holds nothing but an id.
 */
export const RegisterRoute = rawRoutes((add) =>
  Effect.flatMap(OAuthClients, (clients) =>
    Effect.all([
      add("POST", oauthPaths.register, {}, register(clients)),
      add("OPTIONS", oauthPaths.register, {}, Effect.succeed(preflight("POST")))
    ], { discard: true }))
)
