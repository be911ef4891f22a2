import { Effect } from "effect"
import { renameSync, statSync, unlinkSync } from "node:fs"
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { type ImageError, storageError } from "./ImageError.ts"
import type { Rootfs } from "./Rootfs.ts"
import type { Store } from "./Store.ts"
import { isAbandoned, releaseTemporary, temporaryName } from "./temporary.ts"

/** Counts of what a collection removed. */
export interface Collected {
  readonly blobs: number
  readonly bytes: number
  readonly rootfs: number
}

const list = (directory: string) => readdir(directory).catch(() => [])

/**
 * The check whether a blob is needed and its unlink are synchronous: between them a pull could find the blob present
 * and rely on it.
 */
const removeBlobs = async (store: Store, needed: (digest: string) => boolean) => {
  let blobs = 0
  let bytes = 0
  for (const name of await list(store.blobs)) {
    if (name.startsWith(".") ? !isAbandoned(name) : needed(`sha256:${name}`)) continue
    const path = join(store.blobs, name)
    bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0
    unlinkSync(path)
    blobs++
  }
  return { blobs, bytes }
}

const removeFolders = async (directory: string, needed: (digest: string) => boolean) => {
  const renamed: Array<string> = []
  // Renames all of them first, while the set of needed images is still current: removing their files is slow.
  for (const name of await list(directory)) {
    if (name.startsWith(".") ? !isAbandoned(name) : needed(`sha256:${name}`)) continue
    const temporary = temporaryName()
    renameSync(join(directory, name), join(directory, temporary))
    renamed.push(temporary)
  }
  for (const temporary of renamed) {
    await rm(join(directory, temporary), { recursive: true, force: true })
    releaseTemporary(temporary)
  }
  return renamed.length
}

/** Removes all blobs and unpacked images that are not needed, and incomplete files left by crashes. */
export const collectGarbage = (
  store: Store,
  rootfs: Rootfs,
  needed: { readonly blob: (digest: string) => boolean; readonly rootfs: (digest: string) => boolean }
): Effect.Effect<Collected, ImageError> =>
  Effect.gen(function*() {
    const failed = storageError("Removing unused images")
    // The index first, so that it never lists a removed image.
    yield* store.updateIndex((manifests) => manifests.filter(({ digest }) => needed.blob(digest)))
    const unpacked = yield* Effect.tryPromise({
      try: () => removeFolders(rootfs.directory, needed.rootfs),
      catch: failed
    })
    yield* Effect.tryPromise({ try: () => removeFolders(rootfs.lowest.directory, needed.blob), catch: failed })
    const freed = yield* Effect.tryPromise({ try: () => removeBlobs(store, needed.blob), catch: failed })
    return { ...freed, rootfs: unpacked }
  })
