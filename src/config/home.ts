import { Effect } from "effect"
import { accessSync, constants, mkdirSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { SettingError } from "./Settings.ts"

/** A path below a file is not a directory: some versions of Node throw for it (ENOTDIR), others don't. */
const isDirectory = (path: string) => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return false
    throw error
  }
}

/** Not Node's recursive mkdir: it never ends where a folder just created is reported as missing (/proc). */
const makeFolder = (path: string, mode?: number) => {
  if (isDirectory(path)) return
  // Parents first, so that the error names the topmost folder that can't be created.
  if (dirname(path) !== path) makeFolder(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (!isDirectory(path)) throw error
  }
}

const reasonOf = (error: unknown) => {
  const { code, path = "it" } = error as NodeJS.ErrnoException
  if (code === "EACCES" || code === "EPERM") return `this user may not write to ${path}`
  if (code === "EROFS") return `${path} is on a read-only file system`
  if (code === "ENOTDIR" || code === "EEXIST") return `${path} is a file, or lies below one`
  return `${path} can't be made (${code ?? String(error)})`
}

/** Creates the folder that a setting names if needed; fails when it can't be created or written to. */
export const usableFolder = (setting: string, folder: string, mode?: number) =>
  Effect.try({
    try: () => {
      makeFolder(folder, mode)
      accessSync(folder, constants.W_OK | constants.X_OK)
    },
    catch: (error) =>
      new SettingError({ message: `${setting} must be a folder that can be written to, but ${reasonOf(error)}` })
  })
