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
import { digestOf, randomToken } from "#src/shared/tokens.ts"
import { Clock, Duration, Effect, Either, Option } from "effect"
import { answerTo } from "./authorization-response.ts"
import { AuthorizationRepo } from "./AuthorizationRepo.ts"
import {
  type AuthorizationRequest,
  type AuthorizationTarget,
  PageError,
  RedirectError
} from "./AuthorizationRequest.ts"
import { consentHash, type OAuthClient } from "./Client.ts"
import { OAuthClients } from "./Clients.ts"
import { type OAuthError, type OAuthErrorCode, refused } from "./OAuthError.ts"

const codeLifetime = Duration.toMillis("5 minutes")

/** The one value of a parameter that decides whether anybody can be sent back; undefined when it is none or several. */
const single = (params: URLSearchParams, name: string) => {
  const values = params.getAll(name)
  return values.length === 1 && values[0] !== "" ? values[0] : undefined
}

const offeredBy = (target: AuthorizationTarget): ReadonlyArray<string> =>
  target.kind === "server" ? mcpScopes : platformScopes

const serverIdOf = (target: AuthorizationTarget) => target.kind === "server" ? target.serverId : null

/** A client that names no scopes gets those it registered, else all, but not what asks for a session otherwise. */
const defaultScopes = ({ scope }: OAuthClient, offered: ReadonlyArray<string>) => {
  const usual = offered.filter((name) => name !== accountScope)
  return Either.getOrElse(requestedScopes(scope, offered, usual), () => usual)
}

/** The authorization endpoint's rules (RFC 6749 §4.1.1, RFC 7636, RFC 8707, RFC 9207); the pages ask and show. */
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
      const asked = params.getAll("resource")
      if (asked.length > 1) return yield* refused("invalid_target", "a token is for one resource")
      const sole = asked.length === 0 ? yield* repo.soleBinding(client.clientId) : undefined
      const text = sole === undefined ? parameter(params, "resource") : publicUrl(settings, sole)
      if (text === undefined) return yield* refused("invalid_target", "resource is required: the URL of the server")
      const named = nameResource(text)
      if (named === undefined) return yield* refused("invalid_target", "resource is not the URL of a server here")
      const { resource } = named
      if (named.kind === "platform") return { resource, target: { kind: "platform", name: "Berth" } as const }
      const row = Option.getOrUndefined(yield* repo.target(named.slug))
      if (row === undefined) return yield* refused("invalid_target", "resource is not the URL of a server here")
      const { authMode, ...server } = row
      if (authMode === "byoa") {
        return yield* refused("invalid_target", "the server takes the tokens of another authorization server")
      }
      return { resource, target: { kind: "server", ...server, publicUrl: publicUrl(settings, row.slug) } as const }
    })

    /** What can be told the client: it is known by now, and so is its redirect. */
    const details = Effect.fn("Authorization.details")(function*(params: URLSearchParams, client: OAuthClient) {
      const twice = duplicated(params)
      if (twice !== undefined) return yield* refused("invalid_request", "a parameter is there more than once")
      // What a client put into a signed request it wants to hold; without it, it would ask for something else.
      for (const name of ["request", "request_uri"] as const) {
        if (parameter(params, name) !== undefined) {
          return yield* refused(`${name}_not_supported`, `${name} is not supported: send the parameters themselves`)
        }
      }
      // It may be left out, as there is but one.
      const responseType = parameter(params, "response_type") ?? "code"
      if (responseType !== "code") return yield* refused("unsupported_response_type", "response_type must be code")
      const mode = parameter(params, "response_mode") ?? "query"
      if (mode !== "query") return yield* refused("invalid_request", "response_mode must be query")
      const codeChallenge = parameter(params, "code_challenge")
      const problem = challengeProblem(codeChallenge, parameter(params, "code_challenge_method"))
      if (codeChallenge === undefined || problem !== undefined) {
        return yield* refused("invalid_request", problem ?? "code_challenge is required (PKCE)")
      }
      const { resource, target } = yield* targetOf(params, client)
      const offered = offeredBy(target)
      const scopes = yield* requestedScopes(parameter(params, "scope"), offered, defaultScopes(client, offered)).pipe(
        Either.mapLeft((reason) => refused("invalid_scope", reason))
      )
      return { codeChallenge, resource, target, scopes: withRefreshing(scopes, client.grantTypes) }
    })

    const stateOf = (params: URLSearchParams) => params.getAll("state").length === 1 ? params.get("state")! : undefined

    const redirect = (redirectUri: string, state: string | undefined, error: OAuthErrorCode, description: string) =>
      answerTo(redirectUri, settings.authUrl, state, { error, error_description: description })

    /** Checks an authorization request. Asks a client's host for its metadata document when that is not fresh. */
    const examine = Effect.fn("Authorization.examine")(function*(params: URLSearchParams) {
      const client = yield* clientOf(params)
      const redirectUri = yield* redirectOf(params, client)
      const state = stateOf(params)
      const found = yield* Effect.mapError(
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
      const trusted = kind === "web" && found.target.kind === "server" &&
        (yield* clients.isTrustedFor(found.target.serverId, client.clientId))
      const base = { client, redirectUri, redirectKind: kind, trusted, ...found }
      return (state === undefined ? base : { ...base, state }) satisfies AuthorizationRequest
    })

    /**
     * Whether the user must be asked. Not when the same was granted before to the same client at the same redirects, or
     * when the owner of the server vouches for the client. A program or app on the user's device is asked about each
     * time: any other could say that it is the one (RFC 8252 §8.6).
     */
    const consentNeeded = Effect.fn("Authorization.consentNeeded")(
      function*({ client, redirectKind, resource, scopes, target, trusted }: AuthorizationRequest, userId: string) {
        if (redirectKind !== "web") return true
        const given = yield* repo.consent({ userId, clientId: client.clientId, resource, serverId: serverIdOf(target) })
        if (Option.isNone(given)) return !trusted
        const same = consentHash(client).equals(given.value.redirectUrisHash)
        return !same || !(trusted || scopes.every((scope) => given.value.scopes.includes(scope)))
      }
    )

    /**
     * Whether this user trusts the client, as it is today, with being sent to it unasked: by having consented to it. For
     * anybody may register one, and a link to us must not lead wherever its author likes (RFC 9700 §4.11.2).
     */
    const trusts = (userId: string, client: OAuthClient) =>
      repo.hasConsented({ userId, clientId: client.clientId, redirectUrisHash: consentHash(client) })

    /** Whether the server lets this user in at all, as things stand now. */
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
     * Records the user's consent to `scopes` (those of the request, or some of them) and gives the redirect that carries
     * the code. When the user may not, or nothing is left to grant, the redirect says `access_denied`.
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
        return recorded ? answerTo(redirectUri, settings.authUrl, state, { code }) : deny(request)
      }
    )

    return { examine, consentNeeded, trusts, admissionOf, approve, deny } as const
  })
}) {}
