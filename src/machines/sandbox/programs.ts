import { existsSync } from "node:fs"
import { basename, isAbsolute, join } from "node:path"
import { SEARCH_PATH } from "./paths.ts"
import type { Tier } from "./Tier.ts"

/** Where a program is, by name or absolute path; undefined when it is not installed. */
export const locate = (program: string): string | undefined =>
  (isAbsolute(program) ? [program] : SEARCH_PATH.split(":").map((dir) => join(dir, program)))
    .find((path) => existsSync(path))

/** What every tier is started by: see the launcher. */
const launchers = ["/bin/sh", "unshare", "mount", process.execPath]

/** Why no machine can be started any more: a program that was there when the tier was chosen is not. */
export const goneProgram = ({ name, programs }: Pick<Tier, "name" | "programs">): string | undefined => {
  const gone = [...launchers, ...programs].find((program) => locate(program) === undefined)
  return gone === undefined
    ? undefined
    : `${
      basename(gone)
    }, which the ${name} tier needs, is gone from this host: the operator has to install it again, or ` +
      "restart the platform, which then takes the next tier that works"
}
