import { execFileSync } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { SEARCH_PATH } from "./paths.ts"
import { locate } from "./programs.ts"
import { sealProgram } from "./seal.ts"

const programs = ["unshare", "setpriv", "umount", "env", "sh"]

export const sealName = "seal"

/** The files of the tools directory, without the libraries. */
export const toolNames = () => ["ld", ...programs, ...(sealProgram() === undefined ? [] : [sealName])]

const pathOf = (program: string) => {
  const path = locate(program)
  if (path === undefined) throw new Error(`${program} is not installed`)
  return path
}

/** Copies the loader as `ld`: links to it would break here. */
const copyProgram = (program: string, into: string) => {
  const path = pathOf(program)
  copyFileSync(path, join(into, program))
  // It prints `name => path (address)`, the loader as a bare path.
  const listing = execFileSync(pathOf("ldd"), [path], { encoding: "utf8", env: { PATH: SEARCH_PATH } })
  for (const [, library = ""] of listing.matchAll(/=> (\/\S+)/g)) copyFileSync(library, join(into, basename(library)))
  const loader = /^\s*(\/\S+) \(/m.exec(listing)?.[1]
  if (loader === undefined) throw new Error(`${program} has no loader`)
  copyFileSync(loader, join(into, "ld"))
}

/** Written at every start: the filter may differ from the previous version's. */
const writeSeal = (into: string) => {
  const seal = sealProgram()
  if (seal === undefined) return
  const next = join(into, `${sealName}.new`)
  writeFileSync(next, seal, { mode: 0o755 })
  renameSync(next, join(into, sealName))
}

/** Copies the few programs that must still run after the host's root is gone, with their libraries and the loader. */
export const gatherTools = (into: string, scratch: string): string => {
  if (!programs.every((program) => existsSync(join(into, program)))) {
    mkdirSync(join(scratch, "old"), { recursive: true, mode: 0o755 })
    for (const program of programs) copyProgram(program, scratch)
    rmSync(into, { recursive: true, force: true })
    renameSync(scratch, into)
  }
  writeSeal(into)
  return into
}
