import { failsWith } from "#src/shared/Failure.ts"
import { Duration, Schema } from "effect"

/** A message costs money, and its receiver may be somebody else than who asked for it: so many in 24 hours. */
export const mostADay = { number: 3, account: 10 } as const

/**
 * Tries in all, those that the gateway refused too, for each message that may go out: a refusal is not the sender's
 * fault, and a gateway that refuses what it sends after all must not be a way around the limit.
 */
export const triesPerMessage = 2

export const day = Duration.toMillis("24 hours")

/** Whose limit it is: the telephone number's, the account's, or the whole installation's. */
export const Limited = Schema.Literal("number", "account", "platform")
export type Limited = typeof Limited.Type

const said: Readonly<Record<Limited, (most: number) => string>> = {
  number: (most) => `${most} codes a day go to one telephone number`,
  account: (most) => `An account can have ${most} codes sent a day`,
  platform: () => "The platform has sent as many text messages as it may in a day"
}

const inWords = (seconds: number) => {
  if (seconds < 120) return `${seconds} seconds`
  return seconds < 2 * 3600 ? `${Math.ceil(seconds / 60)} minutes` : `${Math.ceil(seconds / 3600)} hours`
}

/** One of the limits of a day is reached (429). */
export class SmsLimitReached extends Schema.TaggedError<SmsLimitReached>()("SmsLimitReached", {
  limit: Limited,
  allowed: Schema.Int,
  retryAfter: Schema.Int
}, failsWith(429)) {
  override get message() {
    return `${said[this.limit](this.allowed)}; ask for another in ${inWords(this.retryAfter)}`
  }
  get details() {
    return { limit: this.limit, allowed: this.allowed }
  }
}

/** The operator sends messages to certain countries only (409). */
export class SmsCountryRefused extends Schema.TaggedError<SmsCountryRefused>()("SmsCountryRefused", {
  countries: Schema.Array(Schema.String)
}, failsWith(409)) {
  override get message() {
    return `Codes are sent to numbers that begin with ${this.countries.join(", ")}: set another contact.phone first`
  }
}
