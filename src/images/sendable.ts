import { Effect } from "effect"
import { createReadStream } from "node:fs"
import { blobsOf, readManifest } from "./inspect.ts"
import type { Limits } from "./limits.ts"
import { mediaTypes } from "./manifest.ts"
import { type Sendable } from "./push-image.ts"
import type { Store } from "./Store.ts"

/** An image of a store, or of a layout that was written here, to push it. */
export const sendable = Effect.fnUntraced(function*(store: Store, digest: string, limits: Limits) {
  const bytes = yield* store.read(digest, limits.document)
  const image = yield* readManifest({ bytes, digest, mediaType: mediaTypes.manifest }, limits)
  return {
    digest,
    mediaType: image.mediaType,
    manifest: bytes,
    blobs: blobsOf(image),
    open: (blob, start, end) => createReadStream(store.path(blob), { start, end: end - 1 })
  } satisfies Sendable
})
