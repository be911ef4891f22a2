import { exitCodes } from "#src/cli/exit-codes.ts"
import { Clock, Effect, Option } from "effect"
import * as oauth from "oauth4webapi"
import { noSecret, refusal, requestTo, talk } from "./authorization-server.ts"
import { type BrowserLogin } from "./credentials.ts"

export const ended = (origin: string) =>
  refusal(
    `Your login at ${origin} has ended: it was revoked, or not used for 30 days. Log in again: berth login --url ` +
      origin,
    exitCodes.notLetIn
  )

export const serverOf = ({ issuer, revocationEndpoint, tokenEndpoint }: BrowserLogin): oauth.AuthorizationServer => ({
  issuer,
  token_endpoint: tokenEndpoint,
  ...(revocationEndpoint === undefined ? {} : { revocation_endpoint: revocationEndpoint })
})

/** The parts of a token answer that are kept. */
export const tokensIn = Effect.fn("cli.tokensIn")(function*(answer: oauth.TokenEndpointResponse) {
  const { access_token, expires_in = 0, refresh_token } = answer
  return {
    accessToken: access_token,
    expiresAt: new Date((yield* Clock.currentTimeMillis) + expires_in * 1000),
    ...(refresh_token === undefined ? {} : { refreshToken: refresh_token })
  }
})

/** The authorization is at its end, or its client is not known any more (RFC 6749 §5.2). */
const isEnd = (error: unknown) =>
  error instanceof oauth.ResponseBodyError && ["invalid_grant", "invalid_client"].includes(error.error)

/** New tokens for the refresh token (RFC 6749 §6); none when the authorization is at its end. */
export const renew = Effect.fn("cli.renew")(function*(login: BrowserLogin) {
  const { clientId, refreshToken, tokenEndpoint } = login
  if (refreshToken === undefined) return Option.none<BrowserLogin>()
  const server = serverOf(login)
  const client = { client_id: clientId }
  const renewed = async () => {
    try {
      const response = await oauth.refreshTokenGrantRequest(
        server,
        client,
        noSecret,
        refreshToken,
        requestTo(tokenEndpoint)
      )
      return Option.some(await oauth.processRefreshTokenResponse(server, client, response))
    } catch (error) {
      if (isEnd(error)) return Option.none()
      throw error
    }
  }
  const answer = yield* talk(tokenEndpoint, renewed)
  if (Option.isNone(answer)) return Option.none<BrowserLogin>()
  return Option.some<BrowserLogin>({ ...login, ...(yield* tokensIn(answer.value)) })
})
