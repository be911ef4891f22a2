import { keyedMutex } from "#src/shared/keyed-mutex.ts"
import { Effect, type Scope } from "effect"
import { createReadStream } from "node:fs"
import { mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Readable, Transform, Writable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { abortable } from "./abortable.ts"
import { type ImageError, imageError, storageError } from "./ImageError.ts"
import { decodeDocument, type Descriptor, digestOf, Index } from "./manifest.ts"
import { releaseTemporary, temporaryName } from "./temporary.ts"
import { brokenStream, type ExpectedBlob, verifying } from "./verify.ts"

const decodeIndex = decodeDocument(Index, "The local index of images")

/**
 * The local OCI layout (image-spec, image-layout.md). A blob exists when its file does: files appear by rename after
 * every byte was verified and synced, so a crash never leaves a partial blob.
 */
export const makeStore = (directory: string) => {
  const blobs = join(directory, "blobs", "sha256")
  const indexFile = join(directory, "index.json")
  const lock = keyedMutex()
  const path = (digest: string) => join(blobs, digest.slice("sha256:".length))

  const prepare = Effect.tryPromise({
    try: async () => {
      await mkdir(blobs, { recursive: true })
      await writeFile(join(directory, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }), { flag: "wx" })
        .catch((cause: NodeJS.ErrnoException) => cause.code === "EEXIST" ? undefined : Promise.reject(cause))
    },
    catch: storageError("Preparing the image store")
  })

  /** The blob's size on disk, or undefined. */
  const size = (digest: string) =>
    Effect.promise(() => stat(path(digest)).then((stats) => stats.isFile() ? stats.size : undefined, () => undefined))

  const has = (blob: ExpectedBlob) => Effect.map(size(blob.digest), (actual) => actual === blob.size)

  const withTemporary = <A, E, R>(use: (file: string) => Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Effect.sync(temporaryName),
      (name) => use(join(blobs, name)),
      (name) =>
        Effect.promise(() => rm(join(blobs, name), { force: true }).catch(() => {})).pipe(
          Effect.zipRight(Effect.sync(() => releaseTemporary(name)))
        )
    )

  /** Stores the bytes of `source` if they match `blob`, else stores nothing. Doesn't read a stored blob again. */
  const put = <R>(
    blob: ExpectedBlob,
    source: Effect.Effect<Readable, ImageError, R>,
    onBytes?: (count: number) => void
  ): Effect.Effect<void, ImageError, Exclude<R, Scope.Scope>> =>
    withTemporary((temporary) =>
      Effect.scoped(Effect.flatMap(source, (bytes) =>
        abortable(async (signal) => {
          // Opened here, because a stream opens its file later, maybe after a failure has removed it.
          const file = (await open(temporary, "wx", 0o600)).createWriteStream({ flush: true })
          await pipeline(bytes, verifying(blob, onBytes), file, { signal })
          await rename(temporary, path(blob.digest))
        }, (cause) => brokenStream(bytes.errored ?? cause))))
    ).pipe(
      (write) => Effect.flatMap(has(blob), (present) => present ? Effect.void : write),
      lock(blob.digest)
    )

  /** Reads all of `source`, and fails unless it matches `blob`: also when the store has it. */
  const receive = <R>(
    blob: ExpectedBlob,
    source: Effect.Effect<Readable, ImageError, R>,
    onBytes?: (count: number) => void
  ): Effect.Effect<void, ImageError, Exclude<R, Scope.Scope>> =>
    Effect.flatMap(has(blob), (present) =>
      present
        ? Effect.scoped(Effect.flatMap(source, (bytes) =>
          abortable(async (signal) => {
            const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
            await pipeline(bytes, verifying(blob, onBytes), nowhere, { signal })
          }, (cause) => brokenStream(bytes.errored ?? cause))))
        : put(blob, source, onBytes))

  /** Reads and verifies a small document. */
  const read = (digest: string, maxBytes: number) =>
    Effect.gen(function*() {
      const stored = yield* size(digest)
      if (stored === undefined) return yield* imageError("not_found", `${digest} is not in the image store`)
      if (stored > maxBytes) return yield* imageError("too_large", `${digest} is larger than ${maxBytes} bytes`)
      const bytes = yield* Effect.tryPromise({
        try: () => readFile(path(digest)),
        catch: storageError("Reading an image")
      })
      if (digestOf(bytes) === digest) return bytes
      yield* discard(digest)
      return yield* imageError(
        "digest_mismatch",
        `${digest} was damaged on disk and is removed: deploy the image again`
      )
    })

  const discard = (digest: string) => Effect.promise(() => rm(path(digest), { force: true }).catch(() => {}))

  /** Verifies the stored bytes against their digest; removes a damaged blob. */
  const recheck = (digest: string) =>
    Effect.flatMap(size(digest), (stored) =>
      abortable(async (signal) => {
        const sink = new Transform({ transform: (_chunk, _encoding, done) => done() })
        await pipeline(createReadStream(path(digest)), verifying({ digest, size: stored ?? 0 }), sink.resume(), {
          signal
        })
      }, brokenStream)).pipe(Effect.tapError(() => discard(digest)))

  /** Rewrites index.json, which lists the images for other tools; the store itself uses only its blobs. */
  const updateIndex = (change: (manifests: ReadonlyArray<Descriptor>) => ReadonlyArray<Descriptor>) =>
    withTemporary((temporary) =>
      Effect.tryPromise({
        try: async () => {
          const before = await readFile(indexFile).then((bytes) => decodeIndex(bytes), () => undefined)
          const manifests = change(before?._tag === "Right" ? before.right.manifests : [])
          await writeFile(temporary, JSON.stringify({ schemaVersion: 2, manifests }))
          await rename(temporary, indexFile)
        },
        catch: storageError("Writing the index of images")
      })
    ).pipe(lock("index.json"))

  return { blobs, path, prepare, size, has, put, receive, read, recheck, updateIndex }
}

export type Store = ReturnType<typeof makeStore>
