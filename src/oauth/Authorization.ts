import { Accounts } from "#src/accounts/Accounts.ts"
import { accountScope } from "#src/accounts/CurrentActor.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { admission } from "#src/oauth/checks/access.ts"
import { duplicated, parameter } from "#src/oauth/checks/duplicates.ts"
import { challengeProblem } from "#src/oauth/checks/pkce.ts"
import { matchesRedirect, redirectKind } from "#src/oauth/checks/redirect-uri.ts"
import { resourceNamer } from "#src/oauth/checks/resource.ts"
import { requestedScopes, withRefreshing } from "#src/oauth/checks/scope.ts"
import { platformScopes } from "#src/oauth/scopes/platform-resource.ts"
import { mcpScopes, offlineAccess } from "#src/oauth/scopes/scopes.ts"
import { publicUrl } from "#src/servers/addresses.ts"
import { newId } from "#src/shared/ids.ts"
import { now } from "#src/shared/now.ts"
import { digestOf, randomToken } from "#src/shared/tokens.ts"
import { Clock, Duration, Effect, Either, Option } from "effect"
import { redirectWith } from "./authorization-response.ts"
import { AuthorizationRepo } from "./AuthorizationRepo.ts"
import {
  type AuthorizationRequest,
  type AuthorizationTarget,
  PageError,
  RedirectError
} from "./AuthorizationRequest.ts"
import { consentHash, type OAuthClient } from "./Client.ts"
import { OAuthClients } from "./Clients.ts"
import { type OAuthError, oauthError, type OAuthErrorCode } from "./OAuthError.ts"

const codeLifetime = Duration.toMillis("5 minutes")

/** A parameter's value; undefined when it is absent, empty or repeated. */
const single = (params: URLSearchParams, name: string) => {
  const values = params.getAll(name)
  return values.length === 1 && values[0] !== "" ? values[0] : undefined
}

const offeredBy = (target: AuthorizationTarget): ReadonlyArray<string> =>
  target.kind === "platform" ? platformScopes : mcpScopes

const serverIdOf = (target: AuthorizationTarget) => target.kind === "server" ? target.serverId : null

/** A client that names no scopes gets those it registered, else all but `account`, which stands in for a session. */
const defaultScopes = ({ scope }: OAuthClient, offered: ReadonlyArray<string>) => {
  const defaults = offered.filter((name) => name !== accountScope)
  return Either.getOrElse(requestedScopes(scope, offered, defaults), () => defaults)
}

/** The authorization endpoint's rules (RFC 6749 §4.1.1, RFC 7636, RFC 8707, RFC 9207); the pages show and ask. */
export class Authorization extends Effect.Service<Authorization>()("oauth/Authorization", {
  effect: Effect.gen(function*() {
    const repo = yield* AuthorizationRepo
    const clients = yield* OAuthClients
    const accounts = yield* Accounts
    const settings = yield* CurrentSettings
    const nameResource = resourceNamer(settings)

    const clientOf = Effect.fn("Authorization.clientOf")(function*(params: URLSearchParams) {
      const clientId = single(params, "client_id")
      if (clientId === undefined) {
        return yield* new PageError({ code: "client_id", message: "The request must carry one client_id." })
      }
      return yield* clients.resolve(clientId).pipe(Effect.mapError((error) =>
        new PageError({
          code: error._tag === "ClientUnknown" ? "client_unknown" : "client_metadata",
          message: `${error.message}.`
        })
      ))
    })

    const redirectOf = (params: URLSearchParams, client: OAuthClient) => {
      const uri = single(params, "redirect_uri")
      if (uri !== undefined && matchesRedirect(client.redirectUris, uri)) return Effect.succeed(uri)
      const message = uri === undefined
        ? "The request must carry one redirect_uri."
        : "The request's redirect_uri is not one that the client registered."
      return new PageError({ code: "redirect_uri", message })
    }

    const targetOf = Effect.fn("Authorization.targetOf")(function*(params: URLSearchParams, client: OAuthClient) {
      const requested = params.getAll("resource")
      if (requested.length > 1) return yield* oauthError("invalid_target", "a token is for one resource")
      const sole = requested.length === 0 ? yield* repo.soleBinding(client.clientId) : undefined
      const text = sole === undefined ? parameter(params, "resource") : publicUrl(settings, sole)
      if (text === undefined) return yield* oauthError("invalid_target", "resource is required: the URL of the server")
      const named = nameResource(text)
      if (named === undefined) return yield* oauthError("invalid_target", "resource is not the URL of a server here")
      const { resource } = named
      if (named.kind === "platform") return { resource, target: { kind: "platform", name: "Berth" } as const }
      if (named.kind === "composite") {
        const found = Option.getOrUndefined(yield* repo.composite(named.id, yield* now))
        return found === undefined
          ? yield* oauthError("invalid_target", "no composite has this URL, or it has expired")
          : { resource, target: { kind: "composite", allowedEmails: [], ...found } as const }
      }
      const row = Option.getOrUndefined(yield* repo.target(named.slug))
      if (row === undefined) return yield* oauthError("invalid_target", "resource is not the URL of a server here")
      const { authMode, ...server } = row
      if (authMode === "byoa") {
        return yield* oauthError("invalid_target", "the server takes the tokens of another authorization server")
      }
      return { resource, target: { kind: "server", ...server, publicUrl: publicUrl(settings, row.slug) } as const }
    })

    /** Checks whose errors go to the client: the client and its redirect are valid by now. */
    const details = Effect.fn("Authorization.details")(function*(params: URLSearchParams, client: OAuthClient) {
      if (duplicated(params) !== undefined) {
        return yield* oauthError("invalid_request", "a parameter is there more than once")
      }
      // A client relies on what its signed request contains; without it the request would mean something else.
      for (const name of ["request", "request_uri"] as const) {
        if (parameter(params, name) !== undefined) {
          return yield* oauthError(`${name}_not_supported`, `${name} is not supported: send the parameters themselves`)
        }
      }
      // Optional, since only one value is supported.
      const responseType = parameter(params, "response_type") ?? "code"
      if (responseType !== "code") return yield* oauthError("unsupported_response_type", "response_type must be code")
      const mode = parameter(params, "response_mode") ?? "query"
      if (mode !== "query") return yield* oauthError("invalid_request", "response_mode must be query")
      const codeChallenge = parameter(params, "code_challenge")
      const problem = challengeProblem(codeChallenge, parameter(params, "code_challenge_method"))
      if (codeChallenge === undefined || problem !== undefined) {
        return yield* oauthError("invalid_request", problem ?? "code_challenge is required (PKCE)")
      }
      const { resource, target } = yield* targetOf(params, client)
      const offered = offeredBy(target)
      const scopes = yield* requestedScopes(parameter(params, "scope"), offered, defaultScopes(client, offered)).pipe(
        Either.mapLeft((reason) => oauthError("invalid_scope", reason))
      )
      return { codeChallenge, resource, target, scopes: withRefreshing(scopes, client.grantTypes) }
    })

    const stateOf = (params: URLSearchParams) => params.getAll("state").length === 1 ? params.get("state")! : undefined

    const redirect = (redirectUri: string, state: string | undefined, error: OAuthErrorCode, description: string) =>
      redirectWith(redirectUri, settings.authUrl, state, { error, error_description: description })

    /** Checks an authorization request. Fetches a client's metadata document when the cached one is not fresh. */
    const examine = Effect.fn("Authorization.examine")(function*(params: URLSearchParams) {
      const client = yield* clientOf(params)
      const redirectUri = yield* redirectOf(params, client)
      const state = stateOf(params)
      const checked = yield* Effect.mapError(
        details(params, client),
        ({ description, error }: OAuthError) =>
          new RedirectError({
            error,
            description,
            client,
            redirectUri,
            redirectTo: redirect(redirectUri, state, error, description)
          })
      )
      const kind = redirectKind(redirectUri)
      const trusted = kind === "web" && checked.target.kind === "server" &&
        (yield* clients.isTrustedFor(checked.target.serverId, client.clientId))
      const base = { client, redirectUri, redirectKind: kind, trusted, ...checked }
      return (state === undefined ? base : { ...base, state }) satisfies AuthorizationRequest
    })

    /**
     * Whether the user must be asked. Not when the same scopes were granted before to the same client with the same
     * redirects, or when the server's owner registered the client. A program or app on the user's device needs consent
     * each time, since any other program could pretend to be it (RFC 8252 §8.6).
     */
    const consentNeeded = Effect.fn("Authorization.consentNeeded")(
      function*({ client, redirectKind, resource, scopes, target, trusted }: AuthorizationRequest, userId: string) {
        if (redirectKind !== "web") return true
        const consent = yield* repo.consent({
          userId,
          clientId: client.clientId,
          resource,
          serverId: serverIdOf(target)
        })
        if (Option.isNone(consent)) return !trusted
        const unchanged = consentHash(client).equals(consent.value.redirectUrisHash)
        return !unchanged || !(trusted || scopes.every((scope) => consent.value.scopes.includes(scope)))
      }
    )

    /**
     * Whether the user may be redirected to the client without a click: only after consenting to it with its present
     * redirects. Anybody may register a client, and a link to us must not be an open redirector (RFC 9700 §4.11.2).
     */
    const trusts = (userId: string, client: OAuthClient) =>
      repo.hasConsented({ userId, clientId: client.clientId, redirectUrisHash: consentHash(client) })

    /** Whether the server admits this user at present. */
    const admissionOf = Effect.fn("Authorization.admissionOf")(
      function*({ target }: AuthorizationRequest, userId: string) {
        const user = Option.getOrUndefined(yield* accounts.find(userId))
        if (user === undefined) return "refused"
        if (target.kind === "platform") return "admitted"
        return admission(target, {
          accountId: user.id,
          email: user.email,
          emailVerified: user.emailVerifiedAt !== null
        })
      }
    )

    const deny = ({ redirectUri, state }: AuthorizationRequest) =>
      redirect(redirectUri, state, "access_denied", "the user or the server's owner does not allow it")

    /**
     * Records the user's consent to `scopes` (those of the request, or some of them) and returns the redirect with the
     * code. When the user is not admitted, or no scope remains, the redirect says `access_denied`.
     */
    const approve = Effect.fn("Authorization.approve")(
      function*(request: AuthorizationRequest, userId: string, scopes: ReadonlyArray<string>) {
        const { client, codeChallenge, redirectUri, resource, state, target } = request
        const granted = request.scopes.filter((scope) => scopes.includes(scope))
        const allowed = (yield* admissionOf(request, userId)) === "admitted" &&
          granted.some((scope) => scope !== offlineAccess)
        if (!allowed) return deny(request)
        const code = randomToken()
        const recorded = yield* repo.approve({
          grantId: newId("gra"),
          userId,
          clientId: client.clientId,
          resource,
          serverId: serverIdOf(target),
          scopes: granted,
          redirectUrisHash: consentHash(client),
          familyId: newId("fam"),
          codeHash: digestOf(code),
          redirectUri,
          codeChallenge,
          expiresAt: new Date((yield* Clock.currentTimeMillis) + codeLifetime)
        })
        return recorded ? redirectWith(redirectUri, settings.authUrl, state, { code }) : deny(request)
      }
    )

    return { examine, consentNeeded, trusts, admissionOf, approve, deny } as const
  })
}) {}
