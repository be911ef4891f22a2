import type { Effect, Scope } from "effect"
import type { Readable } from "node:stream"
import type { ImageError } from "./ImageError.ts"
import type { Descriptor } from "./manifest.ts"

/** Bytes of a manifest as served, not verified yet. */
export interface SourceDocument {
  readonly bytes: Buffer
  readonly mediaType: string | undefined
  readonly digest: string
}

/** Where an image comes from: a registry, or a layout on disk. */
export interface Source {
  /** The document that the reference names: an index or a manifest. Its digest is the reference's, when it has one. */
  readonly root: Effect.Effect<SourceDocument, ImageError>
  /** The manifest of this digest, verified. */
  readonly manifest: (digest: string) => Effect.Effect<SourceDocument, ImageError>
  /** A blob's bytes, not verified: the reader must do that. */
  readonly blob: (descriptor: Descriptor) => Effect.Effect<Readable, ImageError, Scope.Scope>
}
