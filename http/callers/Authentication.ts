import { CurrentRoute, type Traits } from "#http/traits/Traits.ts"
import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { byHubReader, Forbidden, type Policy, sessionOnly, Unauthorized } from "#src/accounts/Policy.ts"
import { HttpApiMiddleware, HttpApiSecurity, OpenApi } from "@effect/platform"
import { Effect, Layer, Schema } from "effect"
import { CurrentCaller } from "./caller.ts"

const bearer = HttpApiSecurity.bearer.pipe(HttpApiSecurity.annotate(
  OpenApi.Description,
  "A platform API key (`svc_live_…`, `svc_test_…`), a session token (`svc_sess_…`), a hub key where the operation takes " +
    "one, or an OAuth 2.1 access token for the resource `{BASE_URL}/v1`, which /.well-known/oauth-protected-resource/v1 describes (RFC 9728)"
))

const cookie = HttpApiSecurity.apiKey({ in: "cookie", key: "svc_session" }).pipe(HttpApiSecurity.annotate(
  OpenApi.Description,
  "The session cookie (`__Host-svc_session` on https); a mutation also needs a same-origin `Origin`"
))

/** The endpoint needs an authenticated caller, whom http/front/front-door.ts has identified. */
export class Authentication extends HttpApiMiddleware.Tag<Authentication>()("http/Authentication", {
  provides: CurrentActor,
  failure: Schema.Union(Unauthorized, Forbidden),
  security: { bearer, cookie }
}) {}

const session = "a session token (POST /v1/auth/login gives one, /v1/auth/signup with a new account)"
const hubKey = "a hub key (POST /api/v1/hub/api-keys, the tool hub_create_key, makes one)"

const asked: Readonly<Record<Traits["takes"], string>> = {
  own: `Send ${session} as Bearer, or a platform API key or a hub key where the operation takes one`,
  session: `Send ${session} as Bearer`,
  sessionOrHubKey: `Send ${session} or ${hubKey} as Bearer`
}

const enough: Readonly<Record<Traits["takes"], Policy<Unauthorized | Forbidden>>> = {
  own: Effect.void,
  session: sessionOnly,
  // Not every one of them is enough for each operation.
  sessionOrHubKey: byHubReader
}

export const requireActor = Effect.flatMap(CurrentCaller, (caller) => {
  switch (caller._tag) {
    case "Authenticated": {
      const { actor } = caller
      return Effect.flatMap(
        CurrentRoute,
        ({ traits }) => Effect.as(Effect.provideService(enough[traits.takes], CurrentActor, actor), actor)
      )
    }
    case "Rejected":
      return Effect.fail(caller.error)
    case "Refused":
      return Effect.die(caller.error)
    case "Machine":
    case "Anonymous":
      return Effect.flatMap(CurrentRoute, ({ traits }) => new Unauthorized({ reason: asked[traits.takes] }))
  }
})

export const AuthenticationLive = Layer.succeed(
  Authentication,
  Authentication.of({ bearer: () => requireActor, cookie: () => requireActor })
)
