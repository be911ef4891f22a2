import { failsWith } from "#src/shared/Failure.ts"
import { Input } from "#src/shared/text.ts"
import { digestOf } from "#src/shared/tokens.ts"
import { Duration, Schema } from "effect"
import { randomInt } from "node:crypto"

export const codeLifetime = Duration.minutes(10)
/** An account's wrong tries per number, for all its businesses together: another one doesn't give five more. */
export const mostTries = 5
/** The minimum time between two codes of one business. */
export const pause = Duration.minutes(1)

/** Six decimal digits. */
export const newCode = () => String(randomInt(1_000_000)).padStart(6, "0")

/** The stored hash of a code, bound to its business. */
export const codeHash = (businessId: string, code: string) => digestOf(`${businessId}\n${code}`)

export const PhoneCode = Input({
  code: Schema.String.pipe(Schema.pattern(/^\d{6}$/, { message: () => "must be six digits" }))
})

export class NoPhone extends Schema.TaggedError<NoPhone>()("NoPhone", {}, failsWith(409)) {
  override get message() {
    return "The business has no telephone number in international form (+15550100): set contact.phone first"
  }
}

export class CodeJustSent
  extends Schema.TaggedError<CodeJustSent>()("CodeJustSent", { retryAfter: Schema.Int }, failsWith(429))
{
  override get message() {
    return `A code was sent just now; ask for another in ${this.retryAfter} seconds`
  }
}

export class SmsUnavailable extends Schema.TaggedError<SmsUnavailable>()("SmsUnavailable", {}, failsWith(503)) {
  override get message() {
    return "The message could not be sent; try again shortly"
  }
}

/** The code is wrong or expired, had too many wrong tries, or was never sent. */
export class CodeRefused
  extends Schema.TaggedError<CodeRefused>()("CodeRefused", { reason: Schema.String }, failsWith(422))
{
  override get message() {
    return this.reason
  }
  get details() {
    return { issues: [{ path: "code", message: this.reason }] }
  }
}

export class NotVerifiedYet extends Schema.TaggedError<NotVerifiedYet>()("NotVerifiedYet", {}, failsWith(409)) {
  override get message() {
    return "A review needs the level business_verified first: a confirmed phone, and an account of 30 days"
  }
}
