import { plans } from "#src/billing/Plan.ts"
import { type Settings } from "#src/Config.ts"
import { addressBucket, clientAddress } from "#src/shared/client-address.ts"
import { type RateLimit } from "#src/shared/RateLimit.ts"
import { Effect } from "effect"
import { type IncomingMessage } from "node:http"
import { type Answer, failure } from "./answer.ts"

const limit = plans.free.requestsPerMinute

/** Answers that cost the one who asks nothing but asking: guesses at names and tokens, broken requests. */
const isRefusal = ({ status }: Answer) => [400, 401, 404, 405].includes(status)

/**
 * What we answer ourselves counts as anonymous, by address and at the free rate, like any request without credentials
 * (design: headers on every response). Guessing is stopped that way; whoever has a token is not counted here.
 */
export const anonymousLimit = (settings: Settings, limits: RateLimit) => (req: IncomingMessage, reply: Answer) => {
  const sent = req.headers["x-forwarded-for"]
  const address = clientAddress(req.socket.remoteAddress, Array.isArray(sent) ? sent.join() : sent, settings.trustProxy)
  return limits.consume({ key: `ip:${addressBucket(address)}`, limit, window: "1 minute" }).pipe(
    // The counters being away stops nobody.
    Effect.catchAll(() =>
      Effect.succeed({
        limit,
        remaining: limit,
        resetAt: Math.ceil(Date.now() / 1000) + 60,
        allowed: true,
        retryAfterSeconds: 0
      })
    ),
    Effect.map(({ allowed, remaining, resetAt, retryAfterSeconds }): Answer => {
      const message = `More than ${limit} refused requests a minute; try again in ${retryAfterSeconds} seconds`
      const told = allowed || !isRefusal(reply)
        ? reply
        : failure(429, "RATE_LIMITED", message, { "Retry-After": String(retryAfterSeconds) })
      const headers = {
        "X-RateLimit-Limit": String(limit),
        "X-RateLimit-Remaining": String(remaining),
        "X-RateLimit-Reset": String(resetAt)
      }
      return { ...told, headers: { ...headers, ...told.headers } }
    })
  )
}
