import { storageError } from "#src/images/ImageError.ts"
import { isRunning } from "#src/shared/is-running.ts"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { readlinkSync } from "node:fs"
import { lstat, mkdir, mkdtemp, readdir, rm } from "node:fs/promises"
import { hostname } from "node:os"
import { join } from "node:path"

const dayMs = 24 * 60 * 60_000

const pidNamespace = () => {
  try {
    return readlinkSync("/proc/self/ns/pid")
  } catch {
    // Only Linux has them.
    return ""
  }
}

/** Where the id of a process means the same: hosts and containers may share a folder. */
const here = createHash("sha256").update(`${hostname()} ${pidNamespace()}`).digest("hex").slice(0, 8)

const remove = (folder: string) =>
  // A program that was just ended may still write there.
  rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => {})

const isLeft = async (folder: string, rest: string) => {
  const { mtimeMs, uid } = await lstat(folder)
  if (process.getuid !== undefined && uid !== process.getuid()) return false
  const [, place, pid] = /^([0-9a-f]{8})-(\d+)-/.exec(rest) ?? []
  return place === here && !isRunning(Number(pid)) || Date.now() - mtimeMs > dayMs
}

/**
 * Removes what runs that are gone have left in a folder, under names with this prefix: those of ended processes, and
 * after a day those of which nobody here can tell.
 */
export const sweep = async (parent: string, prefix: string): Promise<void> => {
  for (const name of await readdir(parent).catch(() => [])) {
    if (!name.startsWith(prefix)) continue
    const folder = join(parent, name)
    if (await isLeft(folder, name.slice(prefix.length)).catch(() => false)) await remove(folder)
  }
}

/** A folder that only this run works in, and that goes with the scope; or with a later run, if this one is killed. */
export const runFolder = (parent: string, prefix = "") =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        await mkdir(parent, { recursive: true })
        await sweep(parent, prefix)
        return mkdtemp(join(parent, `${prefix}${here}-${process.pid}-`))
      },
      catch: storageError("Making a folder")
    }),
    (folder) => Effect.promise(() => remove(folder))
  )
