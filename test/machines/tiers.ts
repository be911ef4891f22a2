import { describeWhen, missingProgram } from "../support/needs.ts"
import type { TierName } from "./support.ts"

const missing: Readonly<Record<TierName, () => string | undefined>> = {
  runc: () => process.getuid?.() === 0 ? missingProgram("runc") : "runc needs root",
  bubblewrap: () => missingProgram("bwrap"),
  "util-linux": () => missingProgram("unshare")
}

/** One suite for every tier: what the port promises does not depend on what keeps the promise. */
export const everyTier = (name: string, suite: (tier: TierName) => void) => {
  for (const tier of ["runc", "bubblewrap", "util-linux"] as const) {
    describeWhen(process.platform === "linux" ? missing[tier]() : "Linux only", `${name} (${tier})`, () => suite(tier))
  }
}
