import { makeByAccountToken } from "#http/callers/account-token.ts"
import { timesSent } from "#http/connection/times-sent.ts"
import { type Actor } from "#src/accounts/CurrentActor.ts"
import { refused } from "#src/uploads/Refusal.ts"
import { Effect, Option } from "effect"
import { type IncomingMessage } from "node:http"

/** The token of a Bearer (RFC 6750 §2.1), or the password of a Basic (RFC 7617 §2), of whatever user. */
const tokenOf = ({ headers: { authorization = "" } }: IncomingMessage) => {
  const bearer = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(authorization)?.[1]
  if (bearer !== undefined) return bearer
  const basic = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(authorization)?.[1]
  if (basic === undefined) return undefined
  const pair = Buffer.from(basic, "base64").toString("utf8")
  const colon = pair.indexOf(":")
  return colon < 0 ? undefined : pair.slice(colon + 1)
}

const unauthorized = (message: string) => refused("UNAUTHORIZED", message)

/**
 * Who pushes or pulls: the account of an API key, a session token or an access token for our API. Cookies are not read, so that no page of another site acts
 * with them.
 */
export const makePusher = Effect.gen(function*() {
  const byAccountToken = yield* makeByAccountToken
  return Effect.fnUntraced(function*(req: IncomingMessage) {
    if (req.headers.authorization === undefined) {
      return yield* unauthorized("Log in with a platform API key as password, of any user: docker login HOST")
    }
    const token = timesSent(req, "authorization") === 1 ? tokenOf(req) : undefined
    const actor: Option.Option<Actor> = token === undefined
      ? Option.none()
      : yield* byAccountToken(token)
    return Option.isSome(actor)
      ? actor.value
      : yield* unauthorized("The API key, session token or access token is not valid")
  })
})
