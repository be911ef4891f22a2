import { parseUrl } from "#src/format/parse-url.ts"
import { isConfidential } from "#src/images/login.ts"
import { accessTokenType, tokenExchange } from "#src/oauth/exchange-names.ts"
import { Effect, Option, Redacted, Schema } from "effect"
import { savedSessions } from "./credentials.ts"
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

/** A session travels encrypted, or not beyond this machine. */
const isSafe = (url: URL) => isConfidential(url.href, true) || isLoopbackName(url)

/** The token endpoint of an installation that has a session here, if its authorization server is `issuer`, or any. */
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

/** The session that fits a hosted server, with the place where it is exchanged. */
const sessionFor = Effect.fn("cli.sessionFor")(function*(url: URL) {
  const sessions = Object.entries(yield* savedSessions)
  const own = sessions.find(([origin]) => origin === url.origin)
  if (own !== undefined) {
    if (!url.pathname.startsWith("/s/")) return undefined
    const endpoint = yield* tokenEndpointOf(own[0])
    return Option.isSome(endpoint) ? { endpoint: endpoint.value, token: own[1] } : undefined
  }
  if (sessions.length === 0) return undefined
  const issuer = Option.getOrUndefined(yield* issuerOf(url))
  if (issuer === undefined) return undefined
  for (const [origin, token] of sessions) {
    const endpoint = yield* tokenEndpointOf(origin, issuer)
    if (Option.isSome(endpoint)) return { endpoint: endpoint.value, token }
  }
  return undefined
})

/**
 * A token for a hosted server, exchanged for the session of its platform (RFC 8693); none when no session fits. The
 * resource is the URL that the user gave, whatever the server says it is: the token is of no use elsewhere, and the session
 * goes to its own platform alone.
 */
export const exchangedToken = Effect.fn("cli.exchangedToken")(function*(text: string) {
  const url = parseUrl(text)
  const session = url === undefined ? undefined : yield* sessionFor(url)
  if (url === undefined || session === undefined) return undefined
  const answer = yield* read(session.endpoint, Answer, {
    method: "POST",
    redirect: "error",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: String(
      new URLSearchParams({
        grant_type: tokenExchange,
        subject_token: session.token,
        subject_token_type: accessTokenType,
        resource: url.origin + url.pathname
      })
    )
  })
  if (Option.isNone(answer)) return undefined
  return "access_token" in answer.value
    ? Redacted.make(answer.value.access_token)
    : yield* new McpClientError({ message: `There is no token for ${text}: ${answer.value.error_description}` })
})
