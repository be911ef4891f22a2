import { openHeaders, preflight } from "#http/answers/cors.ts"
import { CurrentCaller } from "#http/callers/caller.ts"
import { rawRoutes } from "#http/traits/RawRoutes.ts"
import { asksForExchange } from "#src/oauth/checks/exchange.ts"
import { Introspection } from "#src/oauth/Introspection.ts"
import { type OAuthError, oauthError } from "#src/oauth/OAuthError.ts"
import { Revocation } from "#src/oauth/Revocation.ts"
import { oauthPaths } from "#src/oauth/server-metadata.ts"
import { Tokens } from "#src/oauth/Tokens.ts"
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import { answer, errorAnswer, noStore } from "./answer.ts"
import { exchangeToken } from "./token-exchange.ts"

const form = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
  request.text.pipe(
    Effect.map((text) => new URLSearchParams(text)),
    Effect.orElseSucceed(() => new URLSearchParams())
  ))

/** The authentication scheme that the client used: RFC 6749 §5.2 requires it in the response. */
const schemeOf = (header: string) => /^[A-Za-z][\w-]*/.exec(header)?.[0] ?? "Basic"

/** Public clients send `client_id` without authentication. Clients here have no secrets to send in a header. */
const publicClient = (
  run: (form: URLSearchParams) => Effect.Effect<HttpServerResponse.HttpServerResponse, OAuthError>
) =>
  Effect.gen(function*() {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const sent = headers["authorization"]
    if (sent !== undefined) {
      const reason = oauthError("invalid_client", "clients here have no secret: send client_id in the body alone")
      return errorAnswer(reason, { "www-authenticate": `${schemeOf(sent)} realm="oauth"` })
    }
    return yield* Effect.catchAll(Effect.flatMap(form, run), (error) => Effect.succeed(errorAnswer(error)))
  })

const token = Effect.gen(function*() {
  const tokens = yield* Tokens
  const exchange = yield* exchangeToken
  return publicClient((form) =>
    asksForExchange(form) ? exchange(form) : Effect.map(tokens.issue(form), (response) => answer(response))
  )
})

const done = HttpServerResponse.empty({ status: 200, headers: { ...openHeaders, ...noStore } })
const revoke = Effect.map(Revocation, (revocation) => publicClient((form) => Effect.as(revocation.revoke(form), done)))

const notAMachine = errorAnswer(
  oauthError("invalid_token", "send the server's PLATFORM_MCP_REPLAY_TOKEN as Authorization: Bearer"),
  { "www-authenticate": "Bearer error=\"invalid_token\"" }
)
const introspect = Effect.map(Introspection, (introspection) =>
  Effect.gen(function*() {
    const caller = yield* CurrentCaller
    if (caller._tag !== "Machine") return notAMachine
    const response = Effect.flatMap(form, (form) => introspection.introspect(caller.machine, form))
    return yield* Effect.match(response, {
      onFailure: (error) => errorAnswer(error),
      onSuccess: (body) => answer(body)
    })
  }))

/** The endpoints that take forms: `token` (RFC 6749 §3.2), `revoke` (RFC 7009) and `introspect` (RFC 7662). */
export const OAuthRoutes = rawRoutes((add) =>
  Effect.gen(function*() {
    yield* add("POST", oauthPaths.token, { body: "form" }, yield* token)
    yield* add("POST", oauthPaths.revoke, { body: "form" }, yield* revoke)
    const machines = { body: "form", credential: "machine", forMachines: true } as const
    yield* add("POST", oauthPaths.introspect, machines, yield* introspect)
    for (const path of [oauthPaths.token, oauthPaths.revoke]) {
      yield* add("OPTIONS", path, {}, Effect.succeed(preflight("POST")))
    }
  })
)
