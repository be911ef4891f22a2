import { plans } from "#src/plans/Plan.ts"
import { type RateLimitState } from "#src/shared/RateLimit.ts"

type Rate = Pick<RateLimitState, "limit" | "remaining" | "resetAt">

export const limitHeader = "X-RateLimit-Limit"

/** Contract: "Rate limit headers (every response)". */
export const rateHeaders = ({ limit, remaining, resetAt }: Rate) => ({
  [limitHeader]: String(limit),
  "X-RateLimit-Remaining": String(remaining),
  "X-RateLimit-Reset": String(resetAt)
})

/** Of an answer that counts in no rate: the free plan's, unused. */
export const uncountedRate = (limit = plans.free.requestsPerMinute): Rate => ({
  limit,
  remaining: limit,
  resetAt: Math.ceil(Date.now() / 1000) + 60
})
