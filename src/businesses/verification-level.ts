import { type VerificationLevel } from "#src/listings/VerificationLevel.ts"
import { Duration } from "effect"
import { type BusinessRow } from "./Business.ts"
import { samePhone } from "./phone-number.ts"

/** The age an account has when its businesses may be verified. */
export const fullAge = Duration.days(30)

/** What a level goes by. */
export type Evidence = Pick<
  BusinessRow,
  "phone" | "verifiedPhone" | "phoneVerifiedAt" | "premiumGrantedAt" | "accountCreatedAt"
>

/**
 * The level that the evidence is enough for (docs/businesses.md). Each has the one before as a condition: a confirmed
 * number that is still the one given, an owner's account of 30 days, the operator's word after a review.
 */
export const levelOf = (evidence: Evidence, now: Date): VerificationLevel => {
  const { accountCreatedAt, phone, phoneVerifiedAt, premiumGrantedAt, verifiedPhone } = evidence
  if (phoneVerifiedAt === null || phone === "" || !samePhone(verifiedPhone, phone)) return "unverified"
  if (now.getTime() - accountCreatedAt.getTime() < Duration.toMillis(fullAge)) return "phone_verified"
  return premiumGrantedAt === null ? "business_verified" : "premium_verified"
}
