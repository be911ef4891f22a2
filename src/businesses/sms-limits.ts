import { failsWith } from "#src/shared/Failure.ts"
import { Duration, Schema } from "effect"

/** Messages in 24 hours. Each costs money, and the receiver may not be the person who asked for it. */
export const mostADay = { number: 3, account: 10 } as const

/**
 * Tries per allowed message, including those that the gateway refused. A refusal is not the sender's fault, so it
 * doesn't use up the limit; but a gateway that sends what it reports as refused must not be a way around it.
 */
export const triesPerMessage = 2

export const day = Duration.toMillis("24 hours")

/** Whose limit it is: the telephone number's, the account's, or the whole installation's. */
export const LimitKind = Schema.Literal("number", "account", "platform")
export type LimitKind = typeof LimitKind.Type

const texts: Readonly<Record<LimitKind, (most: number) => string>> = {
  number: (most) => `${most} codes a day go to one telephone number`,
  account: (most) => `An account can have ${most} codes sent a day`,
  platform: () => "The platform has sent as many text messages as it may in a day"
}

const inWords = (seconds: number) => {
  if (seconds < 120) return `${seconds} seconds`
  return seconds < 2 * 3600 ? `${Math.ceil(seconds / 60)} minutes` : `${Math.ceil(seconds / 3600)} hours`
}

/** A daily limit is reached (429). */
export class SmsLimitReached extends Schema.TaggedError<SmsLimitReached>()("SmsLimitReached", {
  limit: LimitKind,
  allowed: Schema.Int,
  retryAfter: Schema.Int
}, failsWith(429)) {
  override get message() {
    return `${texts[this.limit](this.allowed)}; ask for another in ${inWords(this.retryAfter)}`
  }
  get details() {
    return { limit: this.limit, allowed: this.allowed }
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
