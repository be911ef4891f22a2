import { requireActor } from "#http/callers/Authentication.ts"
import { CurrentCaller, makeByToken } from "#http/callers/caller.ts"
import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { ResourceTokens } from "#src/composites/ResourceTokens.ts"
import { exchangeIn } from "#src/oauth/checks/exchange.ts"
import { accessTokenType } from "#src/oauth/exchange-names.ts"
import { oauthError } from "#src/oauth/OAuthError.ts"
import { Clock, Effect } from "effect"
import { answer } from "./answer.ts"

const unacceptable = ({ message }: Error) => oauthError("invalid_request", `subject_token: ${message}`)
const noTarget = ({ message }: Error) => oauthError("invalid_target", message)

/**
 * Answers a token exchange (RFC 8693 §2.2). The subject's token is identified as the Bearer token of a request to our MCP
 * endpoint would be: a session, a hub key, or an access token for that endpoint.
 */
export const exchangeToken = Effect.gen(function*() {
  const byToken = yield* makeByToken
  const exchanges = yield* ResourceTokens
  return (form: URLSearchParams) =>
    Effect.gen(function*() {
      const { subjectToken, ...request } = yield* exchangeIn(form)
      const caller = yield* byToken(subjectToken, "mcp", "/mcp")
      if (caller._tag === "Refused" && caller.error._tag === "Unauthorized") return yield* unacceptable(caller.error)
      const actor = yield* requireActor.pipe(Effect.provideService(CurrentCaller, caller))
      const { accessToken, expiresAt, scope } = yield* exchanges.exchange(request).pipe(
        Effect.provideService(CurrentActor, actor)
      )
      const now = yield* Clock.currentTimeMillis
      return answer({
        access_token: accessToken,
        issued_token_type: accessTokenType,
        token_type: "Bearer",
        expires_in: Math.floor((expiresAt.getTime() - now) / 1000),
        scope
      })
    }).pipe(Effect.catchTags({
      Unauthorized: unacceptable,
      Forbidden: unacceptable,
      NoSuchResource: noTarget,
      NotExchangeable: noTarget,
      Invalid: ({ message }) => oauthError("invalid_scope", message)
    }))
})
