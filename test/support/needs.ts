import { execFileSync } from "node:child_process"
import { describe, it } from "vitest"

/** Why a program is not to be had here, or undefined when it is on PATH. */
export const missingProgram = (program: string): string | undefined => {
  try {
    execFileSync("sh", ["-c", "command -v \"$1\"", "sh", program], { stdio: "ignore" })
    return undefined
  } catch {
    return `${program} is not installed`
  }
}

/**
 * A suite that needs something of the machine. Where it is missing, the suite is skipped and the reason printed;
 * with `CI_FULL=1` that is a failure.
 */
export const describeWhen = (missing: string | undefined, name: string, suite: () => void) => {
  if (missing === undefined) return describe(name, suite)
  describe(name, () => {
    if (process.env["CI_FULL"] === "1") {
      it("finds what it needs", () => {
        throw new Error(`${missing}, and CI_FULL=1 allows no skipping`)
      })
    } else {
      it("runs on this machine", (context) => context.skip(missing))
    }
  })
}
