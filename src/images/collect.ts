import { Effect } from "effect"
import { renameSync, statSync, unlinkSync } from "node:fs"
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { type ImageError, storageError } from "./ImageError.ts"
import type { Rootfs } from "./Rootfs.ts"
import type { Store } from "./Store.ts"
import { isAbandoned, releaseTemporary, temporaryName } from "./temporary.ts"

/** What a collection freed. */
export interface Collected {
  readonly blobs: number
  readonly bytes: number
  readonly rootfs: number
}

const list = (directory: string) => readdir(directory).catch(() => [])

/**
 * Looking whether a file is in use and unlinking it happen in one step of the event loop: in between, a pull could
 * find the blob present and count on it.
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

const removeRootfs = async (rootfs: Rootfs, needed: (digest: string) => boolean) => {
  const doomed: Array<string> = []
  // All at once, as what is needed was found out just now; to remove their files takes its time.
  for (const name of await list(rootfs.directory)) {
    if (name.startsWith(".") ? !isAbandoned(name) : needed(`sha256:${name}`)) continue
    const temporary = temporaryName()
    renameSync(join(rootfs.directory, name), join(rootfs.directory, temporary))
    doomed.push(temporary)
  }
  for (const temporary of doomed) {
    await rm(join(rootfs.directory, temporary), { recursive: true, force: true })
    releaseTemporary(temporary)
  }
  return doomed.length
}

/** Removes every blob and unpacked image that is not needed, and what crashes left half-made. */
export const collectGarbage = (
  store: Store,
  rootfs: Rootfs,
  needed: { readonly blob: (digest: string) => boolean; readonly rootfs: (digest: string) => boolean }
): Effect.Effect<Collected, ImageError> =>
  Effect.gen(function*() {
    const failed = storageError("Removing unused images")
    // The index first: it never lists what is gone.
    yield* store.updateIndex((manifests) => manifests.filter(({ digest }) => needed.blob(digest)))
    const unpacked = yield* Effect.tryPromise({ try: () => removeRootfs(rootfs, needed.rootfs), catch: failed })
    const freed = yield* Effect.tryPromise({ try: () => removeBlobs(store, needed.blob), catch: failed })
    return { ...freed, rootfs: unpacked }
  })
