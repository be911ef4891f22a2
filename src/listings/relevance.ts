import { type ListingTier, listingTiers } from "#src/plans/ListingTier.ts"
import { type PlanName, plans } from "#src/plans/Plan.ts"

/** A listing's tier follows its owner's plan unless the operator set one. */
export const listingTierOf = (plan: PlanName, own: ListingTier | null): ListingTier => own ?? plans[plan].listingTier

/**
 * The documented formula of `relevanceScore`, 0 to 1,100:
 * 200 × verification tier (0–3) + 100 × listing tier (0–2) + 2 × profile completeness (0–100) + health score (0–100).
 */
export const relevanceScore = (listing: {
  readonly verificationTier: number
  readonly tier: ListingTier
  readonly profileCompleteness: number
  readonly healthScore: number
}) =>
  200 * listing.verificationTier + 100 * listingTiers.indexOf(listing.tier) + 2 * listing.profileCompleteness +
  listing.healthScore
