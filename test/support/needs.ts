import { execFileSync } from "node:child_process"
import { describe, it } from "vitest"
import { leftOut } from "./left-out.ts"

/**
 * Whether everything runs, as in `.ci/run`: long proofs, whole sweeps, and nothing skipped for want of a program.
 * Without it `npm test` ends within minutes on two cores. `.ci/run` does a test of a file that has `full ?` or
 * `of sampled(` both ways, and any other once: no long test may need what one that is not long leaves behind.
 */
export const full = process.env["CI_FULL"] === "1"

/** Whether sweeps are whole whose further cases prove nothing else, as in `npm run soak`. */
export const soak = process.env["SOAK"] === "1"

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
    if (full) {
      it("finds what it needs", () => {
        throw new Error(`${missing}, and CI_FULL=1 allows no skipping`)
      })
    } else {
      // Skipped from the start, so that the hooks of a file with nothing else don't run.
      it.skip(`runs on this machine: ${missing}`)
    }
  })
}

/** A suite that takes long: kills, races, hundreds of cases. It may need something of the machine besides. */
export const describeLong = (name: string, suite: () => void, missing?: string) => {
  if (full) return describeWhen(missing, name, suite)
  describe(name, () => {
    it.skip(long("is proved"))
  })
}

/** One test that takes long, in a suite that does not. */
export const itLong = (name: string, test: () => unknown, milliseconds?: number) => {
  if (full) it(name, test, milliseconds)
  else it.skip(long(name))
}

/** All cases of a sweep in a full run; else every `of`-th, from another one on for another `turn`. */
export const sampled = <A>(cases: ReadonlyArray<A>, of: number, turn = 0): ReadonlyArray<A> =>
  full ? cases : cases.filter((_, at) => (at + turn) % of === 0)

/** The name of a long test that says by itself when it is skipped: `it.scoped.skipIf(!full)(long("…"), …)`. */
export const long = (name: string) => full ? name : `${name}${leftOut}`
