import { execFileSync } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import { SEARCH_PATH } from "./paths.ts"

const programs = ["unshare", "setpriv", "umount", "env", "sh"]

const locate = (program: string) => {
  const found = SEARCH_PATH.split(":").map((dir) => join(dir, program)).find((path) => existsSync(path))
  if (found === undefined) throw new Error(`${program} is not installed`)
  return found
}

/**
 * Copies the few programs that must still run after the host's root is gone, with their libraries and the loader
 * (as `ld`; links to it do not survive the move). `ldd` prints `name => path (address)`, the loader as a bare path.
 */
export const gatherTools = (into: string, scratch: string): string => {
  if (programs.every((program) => existsSync(join(into, program)))) return into
  mkdirSync(join(scratch, "old"), { recursive: true, mode: 0o755 })
  for (const program of programs) {
    const path = locate(program)
    copyFileSync(path, join(scratch, program))
    const listing = execFileSync(locate("ldd"), [path], { encoding: "utf8", env: { PATH: SEARCH_PATH } })
    for (const [, library = ""] of listing.matchAll(/=> (\/\S+)/g)) {
      copyFileSync(library, join(scratch, basename(library)))
    }
    const loader = /^\s*(\/\S+) \(/m.exec(listing)?.[1]
    if (loader === undefined) throw new Error(`${program} has no loader`)
    copyFileSync(loader, join(scratch, "ld"))
  }
  rmSync(into, { recursive: true, force: true })
  renameSync(scratch, into)
  return into
}
