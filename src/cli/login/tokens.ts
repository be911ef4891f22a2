import { type CliFailure } from "#src/cli/CliFailure.ts"
import { parseUrl } from "#src/format/parse-url.ts"
import { Clock, Effect, Either, Option } from "effect"
import { changeCredential, type Credential, savedCredentials } from "./credentials.ts"

/** An access token is not used in its last minute: the request that carries it takes time. */
const unusedMillis = 60_000

const usable = (credential: Credential | undefined, now: number): Option.Option<string> => {
  if (credential === undefined || typeof credential === "string") return Option.fromNullable(credential)
  return credential.expiresAt.getTime() - unusedMillis > now ? Option.some(credential.accessToken) : Option.none()
}

/** With the library of OAuth, which a token that is still good does not need. */
const loadRenewal = Effect.promise(() => import("./renew.ts"))

const result = (kept: Credential | undefined, token: Either.Either<Option.Option<string>, CliFailure>) =>
  [kept, token] as const

/**
 * Renews what a browser login has left, one process at a time: a refresh token that two use is taken for stolen
 * (docs/decisions/refresh-tokens.md). Who waited finds the tokens of who was first.
 */
const renewed = (origin: string) =>
  Effect.flatten(changeCredential(origin, (kept) =>
    Effect.gen(function*() {
      const token = usable(kept, yield* Clock.currentTimeMillis)
      if (kept === undefined || typeof kept === "string" || Option.isSome(token)) {
        return result(kept, Either.right(token))
      }
      const { ended, renew } = yield* loadRenewal
      return Option.match(yield* renew(kept), {
        onNone: () => result(undefined, Either.left(ended(origin))),
        onSome: (next) => result(next, Either.right(Option.some(next.accessToken)))
      })
    })))

/** The token of an installation that somebody is logged in to: a session's, an API key, or an access token. */
export const tokenOf = Effect.fn("cli.tokenOf")(function*(origin: string) {
  const kept = (yield* savedCredentials)[origin]
  const token = usable(kept, yield* Clock.currentTimeMillis)
  return kept === undefined || Option.isSome(token) ? token : yield* renewed(origin)
})

/** The platform's own doors that take a login (docs/api.md); below `/s/` are hosted servers, which must not get it. */
const takesLogin = /^\/(mcp|sse|mcp\/composites\/[^/]+|v1\/.*)$/

/** The token for a URL of the platform's own API or MCP; never for a hosted server behind it. */
export const savedToken = Effect.fn("cli.savedToken")(function*(url: string) {
  const parsed = parseUrl(url)
  if (parsed === undefined || !takesLogin.test(parsed.pathname)) return Option.none<string>()
  return yield* tokenOf(parsed.origin)
})
