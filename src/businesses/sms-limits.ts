import { failsWith } from "#src/shared/Failure.ts"
import { Duration, Schema } from "effect"

export const day = Duration.toMillis("24 hours")

/**
 * Tries per allowed message, including those that the gateway refused. A refusal is not the sender's fault, so it
 * doesn't use up the limit; but a gateway that sends what it reports as refused must not be a way around it.
 */
export const triesPerMessage = 2

/** Whose limit it is: the telephone number's, the account's, or the whole installation's. */
const LimitKind = Schema.Literal("number", "account", "platform")

/** Whose messages count against it. */
const Senders = Schema.Literal("account", "new accounts", "all accounts")

/** A limit of messages in 24 hours; some are for accounts in their first day alone. */
export const Scope = Schema.Struct({
  limit: LimitKind,
  by: Senders,
  allowed: Schema.Int,
  isOfFirstDay: Schema.Boolean
})
export type Scope = typeof Scope.Type

/** Whether an account is in its first day at that time. */
export const isNew = (createdAt: Date, at: Date) => at.getTime() - createdAt.getTime() < day

const scopesOfFirstDay = (platform: number): ReadonlyArray<Scope> => [
  { limit: "number", by: "new accounts", allowed: 6, isOfFirstDay: true },
  { limit: "account", by: "account", allowed: 3, isOfFirstDay: true },
  { limit: "platform", by: "new accounts", allowed: Math.ceil(platform / 2), isOfFirstDay: true }
]

/**
 * The limits of an account's messages (docs/operate.md). Each message costs money, and the receiver may not be the
 * person who asked for it. Accounts are easy to make, so the new ones together leave a part to the others.
 */
export const scopesOf = (
  { isNewAccount, platform }: { readonly isNewAccount: boolean; readonly platform: number }
): ReadonlyArray<Scope> => [
  { limit: "number", by: "account", allowed: 3, isOfFirstDay: false },
  { limit: "number", by: "all accounts", allowed: 9, isOfFirstDay: false },
  { limit: "account", by: "account", allowed: 10, isOfFirstDay: false },
  { limit: "platform", by: "all accounts", allowed: platform, isOfFirstDay: false },
  ...(isNewAccount ? scopesOfFirstDay(platform) : [])
]

const reasonOf = ({ allowed, by, isOfFirstDay, limit }: Scope) => {
  const senders = by === "account" ? "one account" : by
  if (limit === "account") {
    return `An account can have ${allowed} codes sent ${isOfFirstDay ? "in its first day" : "a day"}`
  }
  if (limit === "number") return `${allowed} codes a day go to one telephone number for ${senders}`
  return by === "all accounts"
    ? "The platform has sent as many text messages as it may in a day"
    : "The platform has sent as many text messages for new accounts as it may in a day"
}

const inWords = (seconds: number) => {
  if (seconds < 120) return `${seconds} seconds`
  return seconds < 2 * 3600 ? `${Math.ceil(seconds / 60)} minutes` : `${Math.ceil(seconds / 3600)} hours`
}

/** A daily limit is reached (429). */
export class SmsLimitReached extends Schema.TaggedError<SmsLimitReached>()("SmsLimitReached", {
  scope: Scope,
  retryAfter: Schema.Int
}, failsWith(429)) {
  override get message() {
    return `${reasonOf(this.scope)}; ask for another in ${inWords(this.retryAfter)}`
  }
  get details() {
    return { limit: this.scope.limit, allowed: this.scope.allowed }
  }
}

/** The operator allows messages only to certain countries (409). */
export class SmsCountryRefused extends Schema.TaggedError<SmsCountryRefused>()("SmsCountryRefused", {
  countries: Schema.Array(Schema.String)
}, failsWith(409)) {
  override get message() {
    return `Codes are sent to numbers that begin with ${this.countries.join(", ")}: set another contact.phone first`
  }
}
