import { type Traits } from "#http/traits/Traits.ts"
import { requestsPerDay } from "#src/plans/HubTier.ts"
import { type PlanName, plans } from "#src/plans/Plan.ts"
import { addressBucket } from "#src/shared/client-address.ts"
import { type RateLimitRule, type RateLimitState } from "#src/shared/RateLimit.ts"
import { type Caller } from "./caller.ts"

export type RateBuckets = readonly [RateLimitRule, ...ReadonlyArray<RateLimitRule>]

const perMinute = (key: string, limit: number): RateLimitRule => ({ key, limit, window: "1 minute" })

/** Contract: "Limits"; anonymous callers have the free plan's rate, by address. */
export const anonymousBucket = (address: string) =>
  perMinute(`ip:${addressBucket(address)}`, plans.free.requestsPerMinute)

/**
 * Requests of a client on its way to a token: discovery documents, signing keys, and the 401 that names them. One
 * connect takes five to ten of these, and a whole office may share an address; they cost next to nothing.
 */
export const discoveryBucket = (address: string) => perMinute(`discovery:${addressBucket(address)}`, 1_000)

/** What a hosted server's gateway answers in its place to callers whom it knows. */
export const unservedBucket = (serverId: string, plan: PlanName) =>
  perMinute(`unserved:${serverId}`, plans[plan].requestsPerMinute)

/** Renewals come at the same hour, from few addresses; what is not signed costs next to nothing. */
const webhookBucket = (address: string) => perMinute(`webhook:${addressBucket(address)}`, 3_000)

/** Contract, "Limits": directory reads, for any caller. */
const directoryBucket = (address: string) => perMinute(`directory:${addressBucket(address)}`, 300)

const reads = (method: string) => method === "GET" || method === "HEAD"

/** An account has its plan's rate; each key counts within its account, each hosted server separately. */
const bucketsOfCaller = (caller: Caller, address: string): RateBuckets => {
  if (caller._tag === "Machine") {
    const { plan, serverId } = caller.machine
    return [perMinute(`server:${serverId}`, plans[plan].requestsPerMinute)]
  }
  if (caller._tag !== "Authenticated") return [anonymousBucket(address)]
  const { accountId, credential, plan } = caller.actor
  const limit = plans[plan].requestsPerMinute
  const account = perMinute(`account:${accountId}`, limit)
  return credential.kind === "key" ? [account, perMinute(`key:${credential.id}`, limit)] : [account]
}

/**
 * A hub key has its requests a day, counted with its authentication, and no other limit. A spent one is answered by
 * that limit, too, and counts in no other.
 */
export const rateOfHubKey = (caller: Caller): RateLimitState | undefined => {
  const counted = { allowed: true, retryAfterSeconds: 0 }
  if (caller._tag === "Refused" && caller.error._tag === "HubQuotaExceeded") {
    const { resetAt, tier } = caller.error
    return { ...counted, limit: requestsPerDay[tier], remaining: 0, resetAt }
  }
  if (caller._tag !== "Authenticated" || caller.actor.credential.kind !== "hub") return undefined
  const { resetAt, tier, usedToday } = caller.actor.credential
  const limit = requestsPerDay[tier]
  return { ...counted, limit, remaining: limit - usedToday, resetAt }
}

/** The buckets that a request counts in. */
export const rateBuckets = (
  method: string,
  { credential, rate }: Traits,
  caller: Caller,
  address: string,
  hubRateLimit: number
): RateBuckets => {
  if (rate === "hub") return [perMinute(`hub:${addressBucket(address)}`, hubRateLimit)]
  if (rate === "webhook") return [webhookBucket(address)]
  if (rate === "directoryDoor" || rate === "directory" && reads(method)) return [directoryBucket(address)]
  if (rate === "discovery" && (reads(method) || method === "OPTIONS")) return [discoveryBucket(address)]
  // The response will be a 401 that says where to get a token.
  if (credential === "mcp" && caller._tag !== "Authenticated") return [discoveryBucket(address)]
  return bucketsOfCaller(caller, address)
}
