import { describeWhen, missingProgram } from "../support/needs.ts"
import type { TierName } from "./support.ts"

const programs: Readonly<Record<TierName, () => string | undefined>> = {
  runc: () => process.getuid?.() === 0 ? missingProgram("runc") : "runc needs root",
  bubblewrap: () => missingProgram("bwrap"),
  "util-linux": () => missingProgram("unshare")
}

/** Why a tier can't be tried here. */
export const missingFor = (tier: TierName) => process.platform === "linux" ? programs[tier]() : "Linux only"

/** One suite for every tier: what the port promises does not depend on what keeps the promise. */
export const everyTier = (name: string, suite: (tier: TierName) => void) => {
  for (const tier of ["runc", "bubblewrap", "util-linux"] as const) {
    describeWhen(missingFor(tier), `${name} (${tier})`, () => suite(tier))
  }
}
