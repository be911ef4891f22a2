import { CurrentSettings } from "#src/config/Settings.ts"
import { Effect } from "effect"
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { abortable } from "./abortable.ts"
import { storageError } from "./ImageError.ts"
import { decodeConfig, readManifest } from "./inspect.ts"
import { LayerFiles, type Wanted } from "./LayerFiles.ts"
import { readLayers } from "./layers.ts"
import { ImageLimits } from "./limits.ts"
import { mediaTypes } from "./manifest.ts"
import { pairLayers } from "./Rootfs.ts"
import { makeStore } from "./Store.ts"

/** Reads images of the local store for those who look into them. Their deployment keeps them from being collected. */
export class StoredImages extends Effect.Service<StoredImages>()("images/StoredImages", {
  effect: Effect.gen(function*() {
    const { home } = yield* CurrentSettings
    const limits = yield* ImageLimits
    const store = makeStore(join(home, "images"))

    const stored = Effect.fnUntraced(function*(digest: string) {
      const bytes = yield* store.read(digest, limits.document)
      return yield* readManifest({ bytes, digest, mediaType: mediaTypes.manifest }, limits)
    })

    /** What is kept of the wanted files of an image, read from its layers as a stream. */
    const files = Effect.fn("StoredImages.files")(function*<A>(digest: string, wanted: Wanted<A>) {
      const { manifest } = yield* stored(digest)
      const config = yield* decodeConfig(yield* store.read(manifest.config.digest, limits.document))
      const layers = yield* pairLayers(store, manifest, config)
      return yield* abortable(async (signal) => {
        const found = new LayerFiles(wanted)
        await readLayers(found, layers, limits, Infinity, signal)
        return found.all()
      }, storageError("Reading an image"))
    })

    /**
     * An OCI layout with this image alone (image-spec, image-layout.md), for a program that reads one: the folder
     * `image` below the answer. It goes with the scope.
     */
    const layout = Effect.fn("StoredImages.layout")(function*(digest: string) {
      const { bytes, mediaType } = yield* stored(digest)
      return yield* Effect.acquireRelease(
        Effect.tryPromise({
          try: async () => {
            const folder = await mkdtemp(join(tmpdir(), "berth-scan-"))
            const image = join(folder, "image")
            await mkdir(join(image, "blobs"), { recursive: true })
            await symlink(store.blobs, join(image, "blobs", "sha256"))
            await writeFile(join(image, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }))
            const manifests = [{ mediaType, digest, size: bytes.length }]
            await writeFile(join(image, "index.json"), JSON.stringify({ schemaVersion: 2, manifests }))
            return folder
          },
          catch: storageError("Making a layout of an image")
        }),
        (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }).catch(() => {}))
      )
    })

    return { files, layout } as const
  })
}) {}
