import { Schema } from "effect"

/** Verification levels (docs/businesses.md); a tier is the level's place in this order, 0 to 3. */
export const verificationLevels = ["unverified", "phone_verified", "business_verified", "premium_verified"] as const
export const VerificationLevel = Schema.Literal(...verificationLevels)
export type VerificationLevel = typeof VerificationLevel.Type

/** The level of a stored tier. */
export const levelOfTier = (tier: number): VerificationLevel => verificationLevels[tier] ?? "unverified"

/** 0 to 3, in the order of the levels. */
export const tierOf = (level: VerificationLevel) => verificationLevels.indexOf(level)
