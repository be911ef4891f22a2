import { exitCodes } from "#src/cli/exit-codes.ts"
import { savedCredentials } from "#src/cli/login/credentials.ts"
import { tokenOf } from "#src/cli/login/tokens.ts"
import { parseUrl } from "#src/format/parse-url.ts"
import { isConfidential } from "#src/images/login.ts"
import { accessTokenType, tokenExchange } from "#src/oauth/exchange-names.ts"
import { Effect, Option, Redacted, Schema } from "effect"
import { endpointOf, isNothingAt } from "./endpoint.ts"
import { fetchFrom, isLoopbackName } from "./loopback.ts"
import { McpClientError } from "./McpClientError.ts"

const seconds = 10

const ProtectedResource = Schema.Struct({ authorization_servers: Schema.Array(Schema.String) })
const AuthorizationServer = Schema.Struct({ issuer: Schema.String, token_endpoint: Schema.String })
const Answer = Schema.Union(
  Schema.Struct({ access_token: Schema.String }),
  Schema.Struct({ error: Schema.String, error_description: Schema.String })
)

/** The JSON at a URL, of a form; none for whatever else is there, or if nothing answers. */
const read = <A, I>(url: URL, schema: Schema.Schema<A, I>, init: RequestInit = {}) =>
  Effect.tryPromise(async (signal) => {
    const options = { ...init, signal: AbortSignal.any([signal, AbortSignal.timeout(seconds * 1000)]) }
    const response = await fetchFrom(url, options)
    return await response.json() as unknown
  }).pipe(Effect.flatMap(Schema.decodeUnknown(schema)), Effect.option)

/** A login travels encrypted, or not beyond this machine. */
const isSafe = (url: URL) => isConfidential(url.href, true) || isLoopbackName(url)

/** The token endpoint of an installation that somebody is logged in to here, if its authorization server is `issuer`, or any. */
const tokenEndpointOf = (origin: string, issuer?: string) =>
  read(new URL("/.well-known/oauth-authorization-server", origin), AuthorizationServer).pipe(
    Effect.map(Option.filter((found) => issuer === undefined || found.issuer === issuer)),
    Effect.map(Option.flatMapNullable(({ token_endpoint }) => parseUrl(token_endpoint))),
    Effect.map(Option.filter(isSafe))
  )

/** The authorization server that a server names (RFC 9728 §3.1); below `/s/` a platform's own, which nobody is asked for. */
const issuerOf = ({ origin, pathname }: URL) =>
  read(new URL(`/.well-known/oauth-protected-resource${pathname.replace(/\/$/, "")}`, origin), ProtectedResource)
    .pipe(Effect.map(Option.flatMapNullable(({ authorization_servers: [first] }) => first)))

/** The login that fits a hosted server: the origin of its platform, and the place where it is exchanged. */
const loginFor = Effect.fn("cli.loginFor")(function*(url: URL) {
  const origins = Object.keys(yield* savedCredentials)
  if (origins.includes(url.origin)) {
    if (!url.pathname.startsWith("/s/")) return undefined
    const endpoint = yield* tokenEndpointOf(url.origin)
    return Option.isSome(endpoint) ? { endpoint: endpoint.value, origin: url.origin } : undefined
  }
  if (origins.length === 0) return undefined
  const issuer = Option.getOrUndefined(yield* issuerOf(url))
  if (issuer === undefined) return undefined
  for (const origin of origins) {
    const endpoint = yield* tokenEndpointOf(origin, issuer)
    if (Option.isSome(endpoint)) return { endpoint: endpoint.value, origin }
  }
  return undefined
})

/**
 * A token for a hosted server, exchanged for the login at its platform (RFC 8693); none when no login fits. The resource is
 * the URL that the user gave, whatever the server says it is: the token is of no use elsewhere, and the login goes to its
 * own platform alone. `scope` is what the command needs: the account's grant for the server grows to it.
 */
export const exchangedToken = Effect.fn("cli.exchangedToken")(function*(text: string, scope: string) {
  const given = parseUrl(text)
  const url = given === undefined ? undefined : endpointOf(given)
  const login = url === undefined ? undefined : yield* loginFor(url)
  if (url === undefined || login === undefined) return undefined
  const token = yield* tokenOf(login.origin)
  if (Option.isNone(token)) return undefined
  const answer = yield* read(login.endpoint, Answer, {
    method: "POST",
    redirect: "error",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: String(
      new URLSearchParams({
        grant_type: tokenExchange,
        subject_token: token.value,
        subject_token_type: accessTokenType,
        resource: url.origin + url.pathname,
        scope
      })
    )
  })
  if (Option.isNone(answer)) return undefined
  if ("access_token" in answer.value) return Redacted.make(answer.value.access_token)
  return yield* new McpClientError({
    message: `There is no token for ${text}: ${answer.value.error_description}`,
    code: (yield* isNothingAt(url)) ? exitCodes.notFound : undefined
  })
})
