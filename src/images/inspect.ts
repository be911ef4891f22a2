import type { ImageConfig } from "#src/machines/Machines.ts"
import { Effect } from "effect"
import type { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { abortable } from "./abortable.ts"
import { imageError } from "./ImageError.ts"
import type { Limits } from "./limits.ts"
import {
  ConfigFile,
  decodeDocument,
  decodeManifestDocument,
  type Descriptor,
  layerTypes,
  type Manifest
} from "./manifest.ts"
import { checkPlatform, selectPlatform } from "./platform.ts"
import type { Source, SourceDocument } from "./Source.ts"
import { brokenStream, verifying } from "./verify.ts"

export const decodeConfig = decodeDocument(ConfigFile, "The image config")

const configTypes = new Set([
  "application/vnd.oci.image.config.v1+json",
  "application/vnd.docker.container.image.v1+json"
])

/** A manifest of one image for one platform. */
export interface ImageManifest {
  readonly digest: string
  readonly mediaType: string
  readonly bytes: Buffer
  readonly manifest: Manifest
  /** Bytes of config and layers together. */
  readonly totalSize: number
}

/** The manifest in a document, checked against what this platform can run and its limits for storage. */
export const readManifest = (document: SourceDocument, limits: Limits) =>
  Effect.gen(function*() {
    const decoded = yield* decodeManifestDocument(document.bytes, document.mediaType)
    if (decoded._tag === "Index") return yield* imageError("unsupported", "An index inside an index is not supported")
    const { manifest, mediaType } = decoded
    const { config, layers } = manifest
    if (!configTypes.has(config.mediaType)) {
      return yield* imageError("unsupported", `${JSON.stringify(config.mediaType)} is not a container image`)
    }
    const unsupported = layers.find((layer) => !layerTypes.has(layer.mediaType))
    if (unsupported !== undefined) {
      const { mediaType } = unsupported
      return yield* imageError("unsupported", `Layers of type ${JSON.stringify(mediaType)} are not supported`)
    }
    if (layers.length > limits.layers) {
      return yield* imageError("too_large", `The image has ${layers.length} layers, more than ${limits.layers}`)
    }
    const totalSize = layers.reduce((sum, layer) => sum + layer.size, config.size)
    if (totalSize > limits.image || config.size > limits.document) {
      return yield* imageError("too_large", `The image has ${totalSize} bytes, more than ${limits.image}`)
    }
    const { bytes, digest } = document
    return { digest, mediaType, bytes, manifest, totalSize } satisfies ImageManifest
  })

/** Config and layers, without duplicate digests. */
export const blobsOf = ({ manifest }: ImageManifest): ReadonlyArray<Descriptor> => [
  ...new Map([manifest.config, ...manifest.layers].map((blob) => [blob.digest, blob])).values()
]

/** How the image is started, with the specification's defaults. */
export const imageConfig = ({ config }: ConfigFile): ImageConfig => ({
  entrypoint: config?.Entrypoint ?? [],
  cmd: config?.Cmd ?? [],
  env: config?.Env ?? [],
  workingDir: config?.WorkingDir || "/",
  user: config?.User ?? ""
})

const readVerified = (descriptor: Descriptor, open: ReturnType<Source["blob"]>) =>
  Effect.scoped(Effect.flatMap(open, (body: Readable) =>
    abortable(async (signal) => {
      const chunks: Array<Buffer> = []
      await pipeline(body, verifying(descriptor), async (verified: AsyncIterable<Buffer>) => {
        for await (const chunk of verified) chunks.push(chunk)
      }, { signal })
      return Buffer.concat(chunks)
    }, (cause) => brokenStream(body.errored ?? cause))))

/** Finds the image of a source for Linux on `architecture`: via its index if there is one, and checks the config. */
export const findImage = (source: Source, architecture: string, limits: Limits) =>
  Effect.gen(function*() {
    const root = yield* source.root
    const decoded = yield* decodeManifestDocument(root.bytes, root.mediaType)
    const chosen = decoded._tag === "Index" ? yield* selectPlatform(decoded.index, architecture) : undefined
    const document = chosen === undefined
      ? root
      : { ...yield* source.manifest(chosen.digest), mediaType: chosen.mediaType }
    const image = yield* readManifest(document, limits)
    const { config, layers } = image.manifest
    const file = yield* decodeConfig(yield* readVerified(config, source.blob(config)))
    yield* checkPlatform(file, architecture)
    if ((file.rootfs.diff_ids ?? []).length !== layers.length) {
      return yield* imageError("invalid_image", "The image's config does not list its layers")
    }
    return image
  })
