import { limitHeader, rateHeaders } from "#http/answers/rate-headers.ts"
import { addressOf } from "#http/callers/address.ts"
import { anonymousBucket, discoveryBucket, unservedBucket } from "#http/callers/rate-buckets.ts"
import { type Settings } from "#src/config/Settings.ts"
import { type PlanName } from "#src/plans/Plan.ts"
import { type PeriodLimit, periodRefusal } from "#src/plans/PlanLimitReached.ts"
import { type Route } from "#src/routing/Route.ts"
import { type RateLimit } from "#src/shared/RateLimit.ts"
import { type GuestRefusal } from "#src/usage/guest-budget.ts"
import { Effect } from "effect"
import { type IncomingMessage } from "node:http"
import { type Answer, failure } from "./answer.ts"

/** Guessed names and broken requests. */
const isGuess = ({ status }: Answer) => [400, 404, 405].includes(status)

/** Responses on a client's way to a token: the 401, the document that it names, and a server's card. */
const isDiscovery = ({ status }: Answer) => [200, 304, 401].includes(status)

/**
 * Rate limit by address for responses of the gateway itself: guesses at the free rate, like any request without
 * credentials, others in a larger bucket. This stops guessing; requests that reach a server are not counted here,
 * nor are those of a hub key, whose limit their answer tells. A caller whom a server lets in has its headers alone:
 * others at the address need not wait for it.
 */
export const answerLimit = (settings: Settings, limits: RateLimit) =>
(
  req: IncomingMessage,
  reply: Answer,
  letIn?: { readonly plan: PlanName; readonly serverId: string }
): Effect.Effect<Answer> => {
  if (reply.headers?.[limitHeader] !== undefined) return Effect.succeed(reply)
  if (letIn !== undefined) {
    const counted = limits.consumeOrPass(unservedBucket(letIn.serverId, letIn.plan))
    return Effect.map(counted, (state) => ({ ...reply, headers: { ...rateHeaders(state), ...reply.headers } }))
  }
  const address = addressOf(req, settings.trustProxy)
  const bucket = isGuess(reply) ? anonymousBucket(address) : discoveryBucket(address)
  return Effect.map(
    limits.consumeOrPass(bucket),
    ({ allowed, limit, remaining, resetAt, retryAfterSeconds }): Answer => {
      const message = `More than ${limit} refused requests a minute; try again in ${retryAfterSeconds} seconds`
      const limitedReply = allowed || !isGuess(reply) && !isDiscovery(reply)
        ? reply
        : failure(429, "RATE_LIMITED", message, { "Retry-After": String(retryAfterSeconds) })
      return { ...limitedReply, headers: { ...rateHeaders({ limit, remaining, resetAt }), ...limitedReply.headers } }
    }
  )
}

/** A limit of the owner's period is used up until a moment, which may have passed just now. */
export const periodLimitReached = (limit: PeriodLimit, plan: PlanName, used: number, resetsAt: Date): Answer => {
  const { details, message, retryAfter } = periodRefusal(limit, plan, used, resetsAt)
  return failure(429, "PLAN_LIMIT_REACHED", message, { "Retry-After": String(retryAfter) }, details)
}

/** Undefined while the owner's plan allows more machine time. */
export const computeUsedUp = ({ computeSpent, plan }: Route): Answer | undefined =>
  computeSpent === null || computeSpent.resetsAt.getTime() <= Date.now()
    ? undefined
    : periodLimitReached("computeSecondsPerMonth", plan, computeSpent.used, computeSpent.resetsAt)

/** One guest of a server has used what the server allows each of them. */
export const guestRefused = (
  { guestMonthPercent }: Route,
  { allowed, limit, resetsAt, unit }: GuestRefusal,
  isAccount: boolean
): Answer => {
  const seconds = Math.max(1, Math.ceil((resetsAt.getTime() - Date.now()) / 1000))
  const who = isAccount ? "account" : "address"
  const [takes, from] = unit === "seconds"
    ? [`runs ${allowed} seconds`, "for"]
    : [`takes ${allowed} requests`, "from"]
  const message = limit === "guestRequestsPerMinute"
    ? `The server ${takes} a minute ${from} one ${who}; try again in ${seconds} seconds`
    : `The server ${takes} a month ${from} one ${who}, ${guestMonthPercent} % of its owner's, and they are used up: ` +
      `wait until ${resetsAt.toISOString()}`
  return failure(
    429,
    "RATE_LIMITED",
    `${message}, or ask its owner for more (${limit})`,
    {
      "Retry-After": String(seconds),
      ...rateHeaders({ limit: allowed, remaining: 0, resetAt: Math.ceil(resetsAt.getTime() / 1000) })
    },
    { limit, allowed, resetsAt: resetsAt.toISOString() }
  )
}
