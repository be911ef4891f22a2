import { Schema } from "effect"

/** Contract: Limits, requests a day of a hub key; the lowest tier first. */
export const requestsPerDay = { explorer: 100, builder: 10_000, partner: 100_000 } as const

const hubTiers = ["explorer", "builder", "partner"] as const
export const HubTier = Schema.Literal(...hubTiers)
export type HubTier = typeof HubTier.Type

/** Whether a tier is another one or higher. */
export const isAtLeast = (tier: HubTier, least: HubTier) => hubTiers.indexOf(tier) >= hubTiers.indexOf(least)

/** The tier above one, if any. */
export const tierAbove = (tier: HubTier): HubTier | undefined => hubTiers[hubTiers.indexOf(tier) + 1]
