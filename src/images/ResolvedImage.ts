import { type Effect, Schema } from "effect"
import { ImageDigest } from "./manifest.ts"

/** An image pinned to the manifest of its platform; it stays the same if `imageUri` later points to another image. */
export const ResolvedImage = Schema.Struct({
  imageUri: Schema.String,
  /** Digest of the manifest for this machine's platform, never of an index. */
  digest: ImageDigest,
  mediaType: Schema.String,
  /** Bytes of config and compressed layers together. */
  totalSize: Schema.NonNegativeInt
})
export type ResolvedImage = typeof ResolvedImage.Type

/** Progress of a pull: bytes that were already stored count as done. */
export interface MirrorProgress {
  readonly bytes: number
  readonly totalBytes: number
}

export type OnProgress = (progress: MirrorProgress) => Effect.Effect<void>
