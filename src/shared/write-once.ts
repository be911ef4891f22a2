import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import { dirname } from "node:path"

/**
 * Writes a text to `path`, mode 0600, unless the file exists; whether it did. The loser of a race finds the winner's complete text: the
 * file is written under another name and linked into place.
 */
export const writeOnce = (path: string, text: () => string): boolean => {
  if (fs.existsSync(path)) return false
  fs.mkdirSync(dirname(path), { recursive: true })
  const temporary = `${path}.${randomBytes(6).toString("hex")}`
  const file = fs.openSync(temporary, "wx", 0o600)
  try {
    fs.writeSync(file, `${text()}\n`)
    fs.fsyncSync(file)
    fs.linkSync(temporary, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    return false
  } finally {
    fs.closeSync(file)
    fs.rmSync(temporary)
  }
}

/** Makes a new secret key, unless there is one; whether it did. */
export const makeKeyOnce = (path: string): boolean => writeOnce(path, () => randomBytes(32).toString("base64"))
