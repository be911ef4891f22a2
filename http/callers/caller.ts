import { timesSent } from "#http/connection/times-sent.ts"
import { type Traits } from "#http/traits/Traits.ts"
import { Accounts, sessionPrefix } from "#src/accounts/Accounts.ts"
import { type Actor } from "#src/accounts/CurrentActor.ts"
import { Forbidden, Unauthorized } from "#src/accounts/Policy.ts"
import { CurrentSettings, type Settings } from "#src/config/Settings.ts"
import { Introspection, type Machine } from "#src/oauth/Introspection.ts"
import { PlatformTokens } from "#src/oauth/PlatformTokens.ts"
import { ApiKeys } from "#src/projects/ApiKeys.ts"
import { type Headers, type HttpServerRequest } from "@effect/platform"
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Context, Effect, Option } from "effect"

/** Who sent a request: somebody we know, somebody whose credential is no good, or nobody in particular. */
export type Caller =
  | { readonly _tag: "Known"; readonly actor: Actor }
  | { readonly _tag: "Refused"; readonly error: Unauthorized | Forbidden }
  | { readonly _tag: "Anonymous" }
  /** A hosted server, which asks about tokens (RFC 7662 §2.1) and for its configuration; nobody anywhere else. */
  | { readonly _tag: "Machine"; readonly machine: Machine }

export class CurrentCaller extends Context.Reference<CurrentCaller>()("http/CurrentCaller", {
  defaultValue: (): Caller => ({ _tag: "Anonymous" })
}) {}

/** `__Host-` pins the cookie to this host and to https (RFC 6265bis §4.1.3.2). */
export const cookieName = (settings: Settings) =>
  settings.baseUrl.startsWith("https:") ? "__Host-svc_session" : "svc_session"

/** RFC 6750 §2.1: the scheme is case-insensitive, the token a b64token. */
const bearerOf = (headers: Headers.Headers) =>
  /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(headers["authorization"] ?? "")?.[1]

const mutates = (method: string) => !["GET", "HEAD", "OPTIONS"].includes(method)

/** A browser sends the cookie from any page: a mutation must come from a page of ours. */
const sameOrigin = (headers: Headers.Headers, settings: Settings) => {
  const origin = headers["origin"]
  const ours = [settings.baseUrl, settings.authUrl].map((url) => new URL(url).origin)
  return origin === undefined
    ? headers["sec-fetch-site"] === "same-origin"
    : ours.includes(origin) || settings.allowedOrigins.includes(origin)
}

const known = (found: Option.Option<Actor>): Caller =>
  Option.match(found, {
    onNone: () => ({
      _tag: "Refused",
      error: new Unauthorized({ reason: "The credential is not valid: unknown, expired or revoked" })
    }),
    onSome: (actor) => ({ _tag: "Known", actor })
  })

/** Who is not asked for a credential. */
export const nobody: Effect.Effect<Caller> = Effect.succeed({ _tag: "Anonymous" })
const unknown: Effect.Effect<Caller> = Effect.succeed(known(Option.none()))

/** Makes what finds out who sent a request, by Bearer first, then by cookie. */
export const makeIdentify = Effect.gen(function*() {
  const settings = yield* CurrentSettings
  const accounts = yield* Accounts
  const keys = yield* ApiKeys
  const tokens = yield* PlatformTokens
  const introspection = yield* Introspection
  const cookieOfSession = cookieName(settings)

  /** Sessions, keys and JWTs differ by their looks; neither of the first two has a dot in it. */
  const actorOf = (token: string, credential: Traits["credential"]) => {
    if (token.startsWith(sessionPrefix)) return accounts.authenticate(token)
    return credential === "door" && token.includes(".") ? tokens.authenticate(token) : keys.authenticate(token)
  }

  const byBearer = (request: HttpServerRequest.HttpServerRequest, credential: Traits["credential"]) => {
    const token = bearerOf(request.headers)
    // Of two, Node takes the first and a proxy in front perhaps the other.
    const isOnly = timesSent(NodeHttpServerRequest.toIncomingMessage(request), "authorization") === 1
    if (token === undefined || !isOnly) return unknown
    if (credential !== "machine") return Effect.map(actorOf(token, credential), known)
    return Effect.map(
      introspection.authenticate(token),
      Option.match({
        onNone: () => known(Option.none()),
        onSome: (machine): Caller => ({ _tag: "Machine", machine })
      })
    )
  }

  return (request: HttpServerRequest.HttpServerRequest, { credential }: Traits): Effect.Effect<Caller> => {
    const { headers } = request
    if (headers["authorization"] !== undefined) return byBearer(request, credential)
    const cookie = headers["cookie"] === undefined ? undefined : request.cookies[cookieOfSession]
    if (cookie === undefined || cookie === "") return nobody
    if (mutates(request.method) && !sameOrigin(headers, settings)) {
      const reason = "A request with the session cookie must come from this site (Origin); or send the token as Bearer"
      return Effect.succeed({ _tag: "Refused", error: new Forbidden({ reason }) })
    }
    return Effect.map(accounts.authenticate(cookie), known)
  }
})
export type Identify = Effect.Effect.Success<typeof makeIdentify>
