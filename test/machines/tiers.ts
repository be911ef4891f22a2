import { describe } from "vitest"
import { describeLong, full, missingProgram } from "../support/needs.ts"
import type { TierName } from "./support.ts"

const programs: Readonly<Record<TierName, () => string | undefined>> = {
  runc: () => process.getuid?.() === 0 ? missingProgram("runc") : "runc needs root",
  bubblewrap: () => missingProgram("bwrap"),
  "util-linux": () => missingProgram("unshare")
}

/** Why a tier can't be tried here. */
export const missingFor = (tier: TierName) => process.platform === "linux" ? programs[tier]() : "Linux only"

export const tiers = ["runc", "bubblewrap", "util-linux"] as const
/** The one that the platform takes by itself, unless there is none. */
const usual = tiers.find((tier) => missingFor(tier) === undefined)

/** A long suite for every tier. */
export const everyTierAtLength = (name: string, suite: (tier: TierName) => void) => {
  for (const tier of tiers) describeLong(`${name} (${tier})`, () => suite(tier), missingFor(tier))
}

/**
 * One suite for every tier: what the port promises does not depend on what keeps the promise. Where not everything runs,
 * it is proved of the tier that the platform takes here.
 */
export const everyTier = (name: string, suite: (tier: TierName) => void) => {
  if (full || usual === undefined) return everyTierAtLength(name, suite)
  describe(`${name} (${usual})`, () => suite(usual))
}
