import { AccountId } from "#src/accounts/CurrentActor.ts"
import { HubTier, requestsPerDay } from "#src/plans/HubTier.ts"
import { failsWith } from "#src/shared/Failure.ts"
import { Id } from "#src/shared/ids.ts"
import { Input, Timestamp } from "#src/shared/text.ts"
import { Schema } from "effect"

const HubKeyId = Id("HubKeyId", "Hub key id, a ULID")

/** Contract: Hub API key, `meta`. */
export const HubKey = Schema.Struct({
  id: HubKeyId,
  userId: AccountId,
  keyPrefix: Schema.String.annotations({ description: "The first 16 characters of the key" }),
  tier: HubTier,
  dailyRequestCount: Schema.Int.annotations({ description: "Requests since midnight UTC" }),
  lastRequestAt: Schema.NullOr(Timestamp),
  createdAt: Timestamp,
  revokedAt: Schema.NullOr(Timestamp)
}).annotations({ title: "HubKey" })

export const HubKeyRow = Schema.Struct({
  ...HubKey.fields,
  lastRequestAt: Schema.NullOr(Schema.DateFromSelf),
  createdAt: Schema.DateFromSelf,
  revokedAt: Schema.NullOr(Schema.DateFromSelf)
})

/** The answer to the creation; no other shows `key`. */
export const CreatedHubKey = Schema.Struct({ key: Schema.String, meta: HubKey })

export const hubKeyFields = {
  tier: Schema.optionalWith(HubTier, { exact: true, default: () => "explorer" as const }).annotations({
    description: "Requests a day: " +
      Object.entries(requestsPerDay).map(([tier, limit]) => `${tier} ${limit.toLocaleString("en")}`).join(", ")
  })
}
export const HubKeyInput = Input(hubKeyFields)

export class HubKeyNotFound extends Schema.TaggedError<HubKeyNotFound>()("HubKeyNotFound", {}, failsWith(404)) {
  override get message() {
    return "There is no such hub key"
  }
}

export class HubKeyRevoked extends Schema.TaggedError<HubKeyRevoked>()("HubKeyRevoked", {}, failsWith(409)) {
  override get message() {
    return "The hub key was revoked already"
  }
}

export class TooManyHubKeys extends Schema.TaggedError<TooManyHubKeys>()("TooManyHubKeys", {}, failsWith(409)) {
  override get message() {
    return "An account can have at most 100 active hub keys; revoke one first"
  }
}

/** The operator gives out lower tiers only (`HUB_MAX_TIER`). */
export class HubTierNotGiven extends Schema.TaggedError<HubTierNotGiven>()(
  "HubTierNotGiven",
  { tier: HubTier, maxTier: HubTier },
  failsWith(403)
) {
  override get message() {
    return `Hub keys of tier ${this.tier} are not given out here; ${this.maxTier} is the highest`
  }
  get details() {
    return { maxTier: this.maxTier }
  }
}

/** Contract: Limits, requests a day of a hub key. */
export class HubQuotaExceeded extends Schema.TaggedError<HubQuotaExceeded>()(
  "HubQuotaExceeded",
  { tier: HubTier, retryAfter: Schema.Int, resetAt: Schema.Int.annotations({ description: "Unix seconds" }) },
  failsWith(429, "QUOTA_EXCEEDED")
) {
  override get message() {
    return `This hub key has used its ${requestsPerDay[this.tier]} requests of today (tier ${this.tier}); the count ` +
      "starts again at midnight UTC"
  }
  get details() {
    return { limit: requestsPerDay[this.tier], tier: this.tier }
  }
}

/** An account that reads the hub without a hub key has the requests of its tier, too (docs/hub.md). */
export class HubReadsExceeded extends Schema.TaggedError<HubReadsExceeded>()(
  "HubReadsExceeded",
  { tier: HubTier, requiredTier: Schema.optional(HubTier), retryAfter: Schema.Int },
  failsWith(429, "QUOTA_EXCEEDED")
) {
  override get message() {
    const more = this.requiredTier === undefined ? "" : `; a hub key of tier ${this.requiredTier} raises the limit`
    return `This account has used its ${requestsPerDay[this.tier]} reads of composites of today without a hub key ` +
      `(tier ${this.tier})${more}; the count starts again at midnight UTC`
  }
  get details() {
    const { requiredTier, tier } = this
    return { limit: requestsPerDay[tier], tier, ...(requiredTier === undefined ? {} : { requiredTier }) }
  }
}
