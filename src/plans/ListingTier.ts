import { Schema } from "effect"

/** Contract: listing tier; the lowest first. */
export const listingTiers = ["basic", "featured", "premium"] as const
export const ListingTier = Schema.Literal(...listingTiers)
export type ListingTier = typeof ListingTier.Type
