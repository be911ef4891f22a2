import { keyedMutex } from "#src/shared/keyed-mutex.ts"
import { Effect } from "effect"
import { lstat, mkdir, readdir, rename, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { abortable } from "./abortable.ts"
import { unpackInThread } from "./image-thread.ts"
import { type ImageError, imageError, storageError } from "./ImageError.ts"
import { type Layer, type Spent } from "./layers.ts"
import type { Limits } from "./limits.ts"
import { makeLowestLayers } from "./lowest-layers.ts"
import type { ConfigFile, Manifest } from "./manifest.ts"
import type { Store } from "./Store.ts"
import { releaseTemporary, temporaryName } from "./temporary.ts"

/** The stored layers, each with the digest of its archive. */
export const pairLayers = (store: Store, manifest: Manifest, config: ConfigFile) => {
  const diffIds = config.rootfs.diff_ids ?? []
  return diffIds.length === manifest.layers.length
    ? Effect.succeed(manifest.layers.map(({ digest }, at): Layer => ({
      digest,
      path: store.path(digest),
      diffId: diffIds[at] ?? ""
    })))
    : imageError(
      "invalid_image",
      `The image has ${manifest.layers.length} layers, its config ${diffIds.length} digests`
    )
}

const nothing: Spent = { bytes: 0, entries: 0 }

const bytesBelow = async (directory: string): Promise<number> => {
  let bytes = 0
  for (const child of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, child.name)
    bytes += child.isDirectory() ? await bytesBelow(path) : (await lstat(path)).size
  }
  return bytes
}

/** A home's unpacked images, one directory each, named by the hex digits of the manifest's digest. */
export const makeRootfs = (home: string, store: Store, limits: Limits) => {
  const directory = join(home, "rootfs")
  const lowest = makeLowestLayers(join(home, "layers"))
  const lock = keyedMutex()
  const path = (digest: string) => join(directory, digest.slice("sha256:".length))
  const exists = (target: string) =>
    Effect.promise(() => stat(target).then((stats) => stats.isDirectory(), () => false))

  const discard = (name: string) =>
    Effect.promise(() => rm(join(directory, name), { recursive: true, force: true }).catch(() => {})).pipe(
      Effect.zipRight(Effect.sync(() => releaseTemporary(name)))
    )

  /** The layers' files in `work`, an empty directory: those of the lowest from where they are kept, or kept for others. */
  const fill = async (work: string, layers: ReadonlyArray<Layer>, most: number, signal: AbortSignal) => {
    const root = join(work, "root")
    await mkdir(root, { mode: 0o755 })
    const unpack = (some: ReadonlyArray<Layer>, spent: Spent) =>
      unpackInThread({ root, layers: some, limits, most, spent }, signal)
    const [first, ...others] = layers
    if (first === undefined || others.length === 0) return unpack(layers, nothing)
    const kept = await lowest.into(root, first, signal)
    if (kept !== undefined) return unpack(others, kept)
    const spent = await unpack([first], nothing)
    await lowest.note(root, first, spent, join(work, "lowest"), signal)
    const all = await unpack(others, spent)
    await lowest.keep(first, join(work, "lowest"))
    return all
  }

  const build = (target: string, layers: ReadonlyArray<Layer>, most: number): Effect.Effect<number, ImageError> =>
    Effect.acquireUseRelease(
      Effect.sync(temporaryName),
      (name) =>
        abortable(async (signal) => {
          const work = join(directory, name)
          await mkdir(work, { recursive: true, mode: 0o755 })
          const { bytes } = await fill(work, layers, most, signal)
          await rename(join(work, "root"), target)
          return bytes
        }, storageError("Unpacking an image")),
      discard
    )

  /** A layer that doesn't match is either damaged on disk, then it is removed, or was wrong from the start. */
  const recheck = (layers: ReadonlyArray<Layer>) => (error: ImageError) =>
    error.reason === "digest_mismatch" || error.reason === "invalid_image"
      ? Effect.ignore(Effect.forEach(layers, ({ digest }) => Effect.ignore(store.recheck(digest)), { discard: true }))
      : Effect.void

  /**
   * The directory of the image's files, created atomically if absent, with `most` bytes at most. `bytes` is the
   * unpacked size, undefined if the directory existed.
   */
  const ensure = (digest: string, manifest: Manifest, config: ConfigFile, most: number) =>
    Effect.gen(function*() {
      const target = path(digest)
      if (yield* exists(target)) return { directory: target, bytes: undefined }
      const layers = yield* pairLayers(store, manifest, config)
      const bytes = yield* Effect.tapError(build(target, layers, most), recheck(layers))
      return { directory: target, bytes }
    }).pipe(lock(digest))

  /** Bytes of the files below the directory. */
  const measure = (digest: string) =>
    Effect.tryPromise({ try: () => bytesBelow(path(digest)), catch: storageError("Measuring an image") })

  return { directory, lowest, path, has: (digest: string) => exists(path(digest)), ensure, measure }
}

export type Rootfs = ReturnType<typeof makeRootfs>
