import { CurrentSettings } from "#src/config/Settings.ts"
import { Effect, Layer, Option } from "effect"
import { join } from "node:path"
import { BlobStore } from "./BlobStore.ts"
import { fileBlobs } from "./file-blobs.ts"
import { s3Blobs } from "./s3-blobs.ts"

/** In the home, unless a bucket is set. */
export const BlobsLive = Layer.scoped(
  BlobStore,
  Effect.flatMap(
    CurrentSettings,
    ({ home, s3 }) =>
      Option.match(s3, { onNone: () => Effect.succeed(fileBlobs(join(home, "blobs"))), onSome: s3Blobs })
  )
)
