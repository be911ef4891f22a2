import { Effect } from "effect"
import { createReadStream } from "node:fs"
import { lstat, readFile } from "node:fs/promises"
import { basename, join, resolve } from "node:path"
import { type ImageError, imageError } from "./ImageError.ts"
import type { Limits } from "./limits.ts"
import { decodeDocument, type Descriptor, digestOf, Index } from "./manifest.ts"
import { readyFolder } from "./ready-folder.ts"
import { formatReference, type LayoutReference } from "./reference.ts"
import type { Source, SourceDocument } from "./Source.ts"

const decodeIndex = decodeDocument(Index, "The layout's index.json")
const refName = "org.opencontainers.image.ref.name"

const select = (index: Index, name: string, tag: string | undefined) => {
  const matches = index.manifests.filter(({ annotations }) => tag === undefined || annotations?.[refName] === tag)
  const [first, ...others] = matches
  if (first === undefined) return imageError("not_found", `${name} does not exist: the layout has no such image`)
  return others.length === 0 || tag !== undefined
    ? Effect.succeed(first)
    : imageError("invalid_reference", `${name} holds ${matches.length} images: name one by its tag`)
}

/** What to do where there is no layout. */
const advice = (directory: string) =>
  basename(directory) === readyFolder
    ? "build it with npm run image:ready, BERTH_HOME as the platform has it"
    : "write an OCI layout there, as skopeo copy does"

/** An image in an OCI layout directory (image-spec, image-layout.md). */
export const layoutSource = (limits: Limits, reference: LayoutReference): Source => {
  const name = formatReference(reference)
  const directory = resolve(reference.path)
  const blobPath = (digest: string) => join(directory, "blobs", ...digest.split(":"))

  const indexPath = join(directory, "index.json")
  const missing = (path: string): ImageError =>
    imageError(
      "not_found",
      `${name} does not exist: ${path} is not there${path === indexPath ? `; ${advice(directory)}` : ""}`
    )

  /** The size of a regular file. Rejects others, because reading a fifo or a device could block. */
  const sizeOf = (path: string) =>
    Effect.tryPromise({ try: () => lstat(path), catch: () => missing(path) }).pipe(
      Effect.flatMap((stats) => stats.isFile() ? Effect.succeed(stats.size) : missing(path))
    )

  const read = Effect.fnUntraced(function*(path: string) {
    const size = yield* sizeOf(path)
    if (size > limits.document) return yield* imageError("too_large", `${path} is larger than ${limits.document} bytes`)
    return yield* Effect.tryPromise({ try: () => readFile(path), catch: () => missing(path) })
  })

  const manifest = (digest: string) =>
    Effect.gen(function*() {
      const bytes = yield* read(blobPath(digest))
      const actual = digestOf(bytes)
      if (actual !== digest) {
        return yield* imageError("digest_mismatch", `The manifest of ${name} has the digest ${actual}, not ${digest}`)
      }
      return { bytes, digest, mediaType: undefined } satisfies SourceDocument
    })

  const root = Effect.gen(function*() {
    const index = yield* decodeIndex(yield* read(indexPath))
    const chosen: Descriptor = yield* select(index, name, reference.tag)
    return { ...yield* manifest(chosen.digest), mediaType: chosen.mediaType }
  })

  const blob = (descriptor: Descriptor) => {
    const path = blobPath(descriptor.digest)
    return Effect.zipRight(
      sizeOf(path),
      Effect.acquireRelease(
        Effect.sync(() => createReadStream(path)),
        (stream) => Effect.sync(() => stream.destroy())
      )
    )
  }

  return { root, manifest, blob }
}
