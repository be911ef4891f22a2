import { type ImageError, storageError } from "#src/images/ImageError.ts"
import { isAbandoned, releaseTemporary, temporaryName } from "#src/images/temporary.ts"
import { endNoted } from "#src/machines/tied-process.ts"
import { Effect, type Scope } from "effect"
import { mkdir, readdir, rm } from "node:fs/promises"
import { join } from "node:path"

const remove = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 3 })

/** Where an installer works in a workspace. */
export const installFolder = (work: string) => join(work, "install")

/** Removes what crashes left behind, and ends the installers that may still be at work there. */
export const sweepWorkspaces = async (folder: string): Promise<void> => {
  const left = (await readdir(folder).catch(() => [])).filter(isAbandoned).map((name) => join(folder, name))
  await Promise.all(left.map(async (work) => {
    await endNoted(installFolder(work))
    await remove(work)
  }))
}

/** An empty folder below `folder` for the time of the scope. What a crash left behind goes first. */
export const workspace = (folder: string): Effect.Effect<string, ImageError, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.tryPromise({
        try: async () => {
          await mkdir(folder, { recursive: true })
          await sweepWorkspaces(folder)
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
