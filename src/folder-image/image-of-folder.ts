import { Effect } from "effect"
import { existsSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { builtImage } from "./built-image.ts"
import { folderError } from "./FolderError.ts"
import { nodeImage, type NodeImageOptions } from "./node-image.ts"
import { isPython, pythonAdvice } from "./python-advice.ts"

const dockerfiles = ["Dockerfile", "Containerfile"]

/**
 * Makes an image of a folder, in the OCI layout `layout` below `work`; answers with its digest.
 *
 * @param work a folder for this once
 */
export const imageOfFolder = Effect.fn("folder.image")(function*(
  folder: string,
  work: string,
  options: NodeImageOptions
) {
  const layout = join(work, "layout")
  yield* Effect.promise(() => mkdir(work, { recursive: true }))
  if (dockerfiles.some((name) => existsSync(join(folder, name)))) {
    return { layout, digest: yield* builtImage(folder, work, layout, options.say) }
  }
  if (existsSync(join(folder, "package.json"))) {
    return { layout, digest: yield* nodeImage(folder, layout, options) }
  }
  const neither = `${folder} has neither a Dockerfile nor a package.json: one of them says how it becomes a server`
  return yield* folderError(isPython(folder) ? `${neither}. ${pythonAdvice(folder)}` : neither)
})
