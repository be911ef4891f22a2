import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The root folder of the package, from the sources and from the bundle alike; it contains the examples. */
export const packageRoot = () => {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, "package.json")) && folder !== dirname(folder)) folder = dirname(folder)
  return folder
}
