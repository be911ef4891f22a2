import { Effect } from "effect"
import { createReadStream } from "node:fs"
import type { Limits } from "./limits.ts"
import type { Source } from "./Source.ts"
import type { Store } from "./Store.ts"

/** An image that the store has already, by the digest and the type of its manifest or index. */
export const storeSource = (store: Store, limits: Limits, digest: string, mediaType: string): Source => {
  const manifest = (digest: string) =>
    Effect.map(store.read(digest, limits.document), (bytes) => ({ bytes, digest, mediaType: undefined }))
  return {
    root: Effect.map(manifest(digest), (document) => ({ ...document, mediaType })),
    manifest,
    blob: ({ digest }) =>
      Effect.acquireRelease(
        Effect.sync(() => createReadStream(store.path(digest))),
        (stream) => Effect.sync(() => stream.destroy())
      )
  }
}
