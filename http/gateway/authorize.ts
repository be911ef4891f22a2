import { type AccessTokenClaims, type AccessTokens } from "#src/oauth/AccessTokens.ts"
import { type Route } from "#src/routing/Route.ts"
import { Effect, Option, type Runtime, Runtime as R } from "effect"
import { type IncomingMessage } from "node:http"

export type Verdict =
  | { readonly _tag: "Passed"; readonly token: string; readonly claims: AccessTokenClaims | undefined }
  /** `error` is RFC 6750's §3.1 code; undefined when no credentials were sent. */
  | { readonly _tag: "Rejected"; readonly error: string | undefined; readonly message: string }

/** RFC 6750 §2.1: the scheme in any case, one b64token. */
const bearer = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i
/** RFC 6750 §2.3, which OAuth 2.1 removed: a token in a URL ends up in logs. */
const tokenInQuery = /[?&]access_token=/i

/** A client sends the same header with each request. */
const [mostKnown, longestKnown] = [1_000, 2_048]
const known = new Map<string, string>()

/** The token in an `Authorization` header, if it has that form. */
const tokenIn = (header: string) => {
  const found = known.get(header)
  if (found !== undefined) return found
  const token = bearer.exec(header)?.[1]
  if (token === undefined || header.length > longestKnown) return token
  if (known.size >= mostKnown) known.clear()
  known.set(header, token)
  return token
}

/** Of a server that the platform protects; where another authorization server does, its own pages tell. */
const howToGetOne =
  ". Sign in where WWW-Authenticate leads, or take one by the tool create_server_token at the platform's /mcp"

const rejected = (message: string, error?: string): Verdict => ({ _tag: "Rejected", error, message })

/** Decides whether a request may reach its server. A promise only for a token that is not cached. */
export const authorizer = (tokens: AccessTokens, runtime: Runtime.Runtime<never>) => {
  const verify = (token: string, route: Route) =>
    R.runPromise(runtime)(
      tokens.verify(token, route.audiences, route.serverId).pipe(
        Effect.map((claims): Verdict => ({ _tag: "Passed", token, claims })),
        Effect.catchAll(({ reason }) =>
          Effect.as(
            Effect.logDebug(`A token for ${route.slug} was refused: ${reason}`),
            rejected("The access token is not valid for this server: expired, or made for another", "invalid_token")
          )
        )
      )
    )

  const authorize = (req: IncomingMessage, route: Route): Verdict | Promise<Verdict> => {
    const header = req.headers.authorization
    const inQuery = route.authMode === "service_managed" && tokenInQuery.test(req.url ?? "")
    if (header === undefined) {
      return rejected(
        inQuery
          ? "A token in the URL is not accepted; send it as Authorization: Bearer"
          : `This server needs an access token as Authorization: Bearer${route.authMode === "byoa" ? "" : howToGetOne}`
      )
    }
    const token = tokenIn(header)
    if (token === undefined) return rejected("The Authorization header holds no Bearer token", "invalid_token")
    // The customer's server checks it; the gateway does not (contract: Hosted servers).
    if (route.authMode === "byoa") return { _tag: "Passed", token, claims: undefined }
    if (inQuery) return rejected("A token belongs into the Authorization header, and only there", "invalid_request")
    const cached = tokens.peek(token, route.audiences, Date.now(), route.serverId)
    return Option.isSome(cached) ? { _tag: "Passed", token, claims: cached.value } : verify(token, route)
  }

  /** Whether a token with which a request passed still has those claims: it has not expired, and was not revoked. */
  const isStill = (token: string, { audiences, serverId }: Route, claims: AccessTokenClaims | undefined) =>
    claims === undefined || Option.getOrUndefined(tokens.peek(token, audiences, Date.now(), serverId)) === claims

  return { authorize, isStill } as const
}
