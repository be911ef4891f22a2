import { type ImageError } from "#src/images/ImageError.ts"
import { decodeManifestDocument, type Descriptor } from "#src/images/manifest.ts"
import { Effect } from "effect"
import { type Refusal, refused } from "./Refusal.ts"

/** What a manifest that was pushed names. */
export interface ManifestDocument {
  readonly mediaType: string
  readonly blobs: ReadonlyArray<Descriptor>
  readonly manifests: ReadonlyArray<Descriptor>
}

/** More than any image has; each is looked up. */
const mostNamed = 1_000

const invalid = ({ message }: ImageError) => refused("MANIFEST_INVALID", message)

const essence = (contentType: string | undefined) => contentType?.split(";")[0]?.trim().toLowerCase()

/** Docker's name for layers that are not in registries; image-spec has the like. */
const isElsewhere = ({ mediaType }: Descriptor) => /foreign|nondistributable/.test(mediaType)

/** A manifest or an index of OCI or Docker, as it was pushed. */
export const readDocument = (
  bytes: Uint8Array,
  contentType: string | undefined
): Effect.Effect<ManifestDocument, Refusal> =>
  Effect.gen(function*() {
    const document = yield* Effect.mapError(decodeManifestDocument(bytes, contentType), invalid)
    const { mediaType } = document
    const said = essence(contentType)
    if (said !== undefined && said !== "application/json" && said !== mediaType) {
      return yield* refused("MANIFEST_INVALID", `The manifest is of type ${mediaType}, and was sent as another`)
    }
    const named = document._tag === "Index"
      ? { blobs: [], manifests: document.index.manifests }
      : {
        blobs: [document.manifest.config, ...document.manifest.layers].filter((blob) => !isElsewhere(blob)),
        manifests: []
      }
    if (named.blobs.length + named.manifests.length > mostNamed) {
      return yield* refused("MANIFEST_INVALID", `The manifest names more than ${mostNamed} others`)
    }
    return { mediaType, ...named }
  })
