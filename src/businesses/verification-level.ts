import { type VerificationLevel } from "#src/listings/VerificationLevel.ts"
import { Duration } from "effect"
import { type BusinessRow } from "./Business.ts"
import { samePhone } from "./phone-number.ts"

/** The age that an account needs before its businesses can be `business_verified`. */
export const requiredAge = Duration.days(30)

/** The facts that decide the level. */
export type Evidence = Pick<
  BusinessRow,
  "phone" | "verifiedPhone" | "phoneVerifiedAt" | "premiumGrantedAt" | "accountCreatedAt"
>

/**
 * The highest level that the evidence supports (docs/businesses.md). Each level requires the one before: a confirmed
 * number that is still the current one, an owner's account of 30 days, the operator's approval after a review.
 */
export const levelOf = (evidence: Evidence, now: Date): VerificationLevel => {
  const { accountCreatedAt, phone, phoneVerifiedAt, premiumGrantedAt, verifiedPhone } = evidence
  if (phoneVerifiedAt === null || phone === "" || !samePhone(verifiedPhone, phone)) return "unverified"
  if (now.getTime() - accountCreatedAt.getTime() < Duration.toMillis(requiredAge)) return "phone_verified"
  return premiumGrantedAt === null ? "business_verified" : "premium_verified"
}
