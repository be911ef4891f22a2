import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import { dirname } from "node:path"

/**
 * Writes a text to `path`, mode 0600, unless the file is there. Whoever is second to a race finds the first one's text
 * whole: the file is written aside and linked into place.
 */
export const writeOnce = (path: string, text: () => string): void => {
  if (fs.existsSync(path)) return
  fs.mkdirSync(dirname(path), { recursive: true })
  const aside = `${path}.${randomBytes(6).toString("hex")}`
  const file = fs.openSync(aside, "wx", 0o600)
  try {
    fs.writeSync(file, `${text()}\n`)
    fs.fsyncSync(file)
    fs.linkSync(aside, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  } finally {
    fs.closeSync(file)
    fs.rmSync(aside)
  }
}

/** A fresh secret key, where there is none yet. */
export const makeKeyOnce = (path: string): void => writeOnce(path, () => randomBytes(32).toString("base64"))
