import { timesSent } from "#http/connection/times-sent.ts"
import { type Traits } from "#http/traits/Traits.ts"
import { Accounts } from "#src/accounts/Accounts.ts"
import { type Actor } from "#src/accounts/CurrentActor.ts"
import { Forbidden, Unauthorized } from "#src/accounts/Policy.ts"
import { CurrentSettings, type Settings } from "#src/config/Settings.ts"
import { Introspection, type Machine } from "#src/oauth/Introspection.ts"
import { type Headers, type HttpServerRequest } from "@effect/platform"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Context, Effect, Option } from "effect"
import { makeByAccountToken } from "./account-token.ts"
import { type HubCaller, isHubKey, makeByHubKey, notValid } from "./hub-key.ts"

/** The sender of a request: authenticated, with an invalid credential, or anonymous. */
export type Caller =
  | HubCaller
  | { readonly _tag: "Rejected"; readonly error: Unauthorized | Forbidden }
  | { readonly _tag: "Anonymous" }
  /** A hosted server, for introspection (RFC 7662 §2.1) and its own configuration only. */
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

/** A browser sends the cookie from pages of other sites, too: a mutation must come from our own pages. */
const sameOrigin = (headers: Headers.Headers, settings: Settings) => {
  const origin = headers["origin"]
  const ownOrigins = [settings.baseUrl, settings.authUrl].map((url) => new URL(url).origin)
  return origin === undefined
    ? headers["sec-fetch-site"] === "same-origin"
    : ownOrigins.includes(origin) || settings.allowedOrigins.includes(origin)
}

const callerOf = (actor: Option.Option<Actor>): Caller =>
  Option.match(actor, {
    onNone: () => ({
      _tag: "Rejected",
      error: notValid
    }),
    onSome: (actor) => ({ _tag: "Authenticated", actor })
  })

/** The caller of a request without authentication. */
export const anonymous: Effect.Effect<Caller> = Effect.succeed({ _tag: "Anonymous" })
const invalidCredential: Effect.Effect<Caller> = Effect.succeed(callerOf(Option.none()))

/** Whatever the key's state is: nobody learns it here. */
const hubKeyElsewhere: Caller = {
  _tag: "Rejected",
  error: new Unauthorized({
    reason: "Hub keys are for reads of the hub; send a session token as Bearer, or a platform API key where the " +
      "operation takes one"
  })
}

const takesHubKeys = (credential: Traits["credential"]) => credential === "hub" || credential === "mcp"

/** Makes the function that identifies the holder of a token where `path` takes such credentials. */
export const makeByToken = Effect.gen(function*() {
  const byAccountToken = yield* makeByAccountToken
  const byHubKey = yield* makeByHubKey
  const introspection = yield* Introspection

  return (token: string, credential: Traits["credential"], path: string): Effect.Effect<Caller> => {
    if (takesHubKeys(credential) && isHubKey(token)) return byHubKey(token)
    if (isHubKey(token)) return Effect.succeed(hubKeyElsewhere)
    if (credential !== "machine") {
      return Effect.map(byAccountToken(token, credential === "mcp" ? path : undefined), callerOf)
    }
    return Effect.map(
      introspection.authenticate(token),
      Option.match({
        onNone: () => callerOf(Option.none()),
        onSome: (machine): Caller => ({ _tag: "Machine", machine })
      })
    )
  }
})

/** Makes the function that identifies the sender of a request, by Bearer first, then by cookie. */
export const makeIdentify = Effect.gen(function*() {
  const settings = yield* CurrentSettings
  const accounts = yield* Accounts
  const byToken = yield* makeByToken
  const byHubKey = yield* makeByHubKey
  const sessionCookie = cookieName(settings)

  const byBearer = (request: HttpServerRequest.HttpServerRequest, credential: Traits["credential"]) => {
    const token = bearerOf(request.headers)
    // Of two headers Node uses the first, and a proxy in front perhaps the other.
    const isOnly = timesSent(NodeHttpServerRequest.toIncomingMessage(request), "authorization") === 1
    return token === undefined || !isOnly ? invalidCredential : byToken(token, credential, request.url)
  }

  return (request: HttpServerRequest.HttpServerRequest, { credential }: Traits): Effect.Effect<Caller> => {
    const { headers } = request
    if (headers["authorization"] !== undefined) return byBearer(request, credential)
    const hubKey = takesHubKeys(credential) ? headers["x-api-key"] : undefined
    if (hubKey !== undefined) return byHubKey(hubKey)
    const cookie = headers["cookie"] === undefined ? undefined : request.cookies[sessionCookie]
    if (cookie === undefined || cookie === "") return anonymous
    if (mutates(request.method) && !sameOrigin(headers, settings)) {
      const reason = "A request with the session cookie must come from this site (Origin); or send the token as Bearer"
      return Effect.succeed({ _tag: "Rejected", error: new Forbidden({ reason }) })
    }
    return Effect.map(accounts.authenticate(cookie), callerOf)
  }
})
export type Identify = Effect.Effect.Success<typeof makeIdentify>
