import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import { dirname } from "node:path"

/**
 * Writes a fresh secret key to `path`, mode 0600, unless the file is there. Whoever is second to a race finds the
 * first one's key whole: the file is written aside and linked into place.
 */
export const makeKeyOnce = (path: string): void => {
  if (fs.existsSync(path)) return
  fs.mkdirSync(dirname(path), { recursive: true })
  const aside = `${path}.${randomBytes(6).toString("hex")}`
  const file = fs.openSync(aside, "wx", 0o600)
  try {
    fs.writeSync(file, `${randomBytes(32).toString("base64")}\n`)
    fs.fsyncSync(file)
    fs.linkSync(aside, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  } finally {
    fs.closeSync(file)
    fs.rmSync(aside)
  }
}
