import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** The folder that the program came in, whether it runs from its sources or from its bundle: it has the examples. */
export const packageRoot = () => {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, "package.json")) && folder !== dirname(folder)) folder = dirname(folder)
  return folder
}
