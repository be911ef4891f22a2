import { Schema } from "effect"

/** Verification levels (docs/businesses.md); a tier is the level's index, 0 to 3. */
export const verificationLevels = ["unverified", "phone_verified", "business_verified", "premium_verified"] as const
export const VerificationLevel = Schema.Literal(...verificationLevels)
export type VerificationLevel = typeof VerificationLevel.Type

/** The level of a stored tier. */
export const levelOfTier = (tier: number): VerificationLevel => verificationLevels[tier] ?? "unverified"

/** The tier of a level, 0 to 3. */
export const tierOf = (level: VerificationLevel) => verificationLevels.indexOf(level)
