import { existsSync } from "node:fs"
import { basename, isAbsolute, join } from "node:path"
import { SEARCH_PATH } from "./paths.ts"
import type { Tier } from "./Tier.ts"

/** Where a program is, by name or absolute path; undefined when it is not installed. */
export const locate = (program: string): string | undefined =>
  (isAbsolute(program) ? [program] : SEARCH_PATH.split(":").map((dir) => join(dir, program)))
    .find((path) => existsSync(path))

/** Every tier starts machines with these (launcher.ts). */
const launchers = ["/bin/sh", "unshare", "mount", process.execPath]

/** A message when a program that existed when the tier was chosen is missing: no machine can start without it. */
export const missingProgram = ({ name, programs }: Pick<Tier, "name" | "programs">): string | undefined => {
  const missing = [...launchers, ...programs].find((program) => locate(program) === undefined)
  return missing === undefined
    ? undefined
    : `${
      basename(missing)
    }, which the ${name} tier needs, is gone from this host: the operator has to install it again, or ` +
      "restart the platform, which then takes the next tier that works"
}
