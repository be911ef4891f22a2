import { type ImageError, storageError } from "#src/images/ImageError.ts"
import { isAbandoned, releaseTemporary, temporaryName } from "#src/images/temporary.ts"
import { Effect, type Scope } from "effect"
import { mkdir, readdir, rm } from "node:fs/promises"
import { join } from "node:path"

const remove = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 3 })

/** An empty folder below `folder` for the time of the scope. What a crash left behind goes when the next one is made. */
export const workspace = (folder: string): Effect.Effect<string, ImageError, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.tryPromise({
        try: async () => {
          await mkdir(folder, { recursive: true })
          const left = (await readdir(folder)).filter(isAbandoned)
          await Promise.all(left.map((name) => remove(join(folder, name))))
          const name = temporaryName()
          await mkdir(join(folder, name), { mode: 0o700 })
          return name
        },
        catch: storageError("Making a folder for a package")
      }),
      (name) =>
        Effect.promise(() => remove(join(folder, name)).catch(() => {})).pipe(
          Effect.zipRight(Effect.sync(() => releaseTemporary(name)))
        )
    ),
    (name) => join(folder, name)
  )
