import { Effect, Either, Schema } from "effect"
import { createHash } from "node:crypto"
import { type ImageError, imageError } from "./ImageError.ts"
import { digestPattern } from "./reference.ts"

export const ImageDigest = Schema.String.pipe(Schema.pattern(digestPattern))

export const digestOf = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`

const Platform = Schema.Struct({
  architecture: Schema.String,
  os: Schema.String,
  variant: Schema.optional(Schema.String)
})

export const Descriptor = Schema.Struct({
  mediaType: Schema.String,
  digest: ImageDigest,
  size: Schema.NonNegativeInt,
  platform: Schema.optional(Platform),
  annotations: Schema.optional(Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.String })))
})
export type Descriptor = typeof Descriptor.Type

const Manifest = Schema.Struct({
  schemaVersion: Schema.Literal(2),
  config: Descriptor,
  layers: Schema.Array(Descriptor)
})
export type Manifest = typeof Manifest.Type

export const Index = Schema.Struct({
  schemaVersion: Schema.Literal(2),
  mediaType: Schema.optional(Schema.String),
  manifests: Schema.Array(Descriptor)
})
export type Index = typeof Index.Type

const strings = Schema.optional(Schema.NullOr(Schema.Array(Schema.String)))
const text = Schema.optional(Schema.NullOr(Schema.String))

/** The image configuration (image-spec, config.md). Docker writes `null` for what is not set. */
export const ConfigFile = Schema.Struct({
  architecture: Schema.String,
  os: Schema.String,
  variant: Schema.optional(Schema.String),
  config: Schema.optional(Schema.NullOr(Schema.Struct({
    Entrypoint: strings,
    Cmd: strings,
    Env: strings,
    WorkingDir: text,
    User: text
  }))),
  rootfs: Schema.Struct({ type: Schema.Literal("layers"), diff_ids: Schema.NullOr(Schema.Array(ImageDigest)) })
})
export type ConfigFile = typeof ConfigFile.Type

export const mediaTypes = {
  manifest: "application/vnd.oci.image.manifest.v1+json",
  index: "application/vnd.oci.image.index.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip"
} as const

const manifestTypes = new Set<string>([
  mediaTypes.manifest,
  "application/vnd.docker.distribution.manifest.v2+json"
])
const indexTypes = new Set<string>([mediaTypes.index, "application/vnd.docker.distribution.manifest.list.v2+json"])
export const acceptedTypes = [...manifestTypes, ...indexTypes].join(", ")

/** Archives that a registry keeps. How one is compressed its first bytes say: tools label them wrongly. */
export const layerTypes = new Set<string>([
  ...["", "+gzip", "+zstd"].map((suffix) => `application/vnd.oci.image.layer.v1.tar${suffix}`),
  ...["", ".gzip", ".zstd"].map((suffix) => `application/vnd.docker.image.rootfs.diff.tar${suffix}`)
])

/** Decodes JSON of an expected shape from untrusted bytes. */
export const decodeDocument = <A, I>(schema: Schema.Schema<A, I>, what: string) => {
  const decode = Schema.decodeUnknownEither(Schema.parseJson(schema))
  return (bytes: Uint8Array): Either.Either<A, ImageError> =>
    Either.mapLeft(
      decode(Buffer.from(bytes).toString("utf8")),
      ({ message }) => {
        // The last line of Schema's error tree is the actual reason.
        const reason = message.trim().split("\n").at(-1)?.replace(/^[^\w"]+/, "").slice(0, 160)
        return imageError("invalid_image", `${what} is malformed: ${reason}`)
      }
    )
}

const decodeManifest = decodeDocument(Manifest, "The image manifest")
const decodeIndex = decodeDocument(Index, "The image index")
const decodeShape = decodeDocument(
  Schema.Struct({
    mediaType: Schema.optional(Schema.String),
    manifests: Schema.optional(Schema.Unknown),
    layers: Schema.optional(Schema.Unknown)
  }),
  "The image manifest"
)

export type Document =
  | { readonly _tag: "Manifest"; readonly mediaType: string; readonly manifest: Manifest }
  | { readonly _tag: "Index"; readonly mediaType: string; readonly index: Index }

/**
 * Decodes a manifest or an index, by its own `mediaType`, else by the one it was served with. Refuses a document that
 * could be read as both: two readers of the same digest must not see different images (CVE-2021-41190).
 */
export const decodeManifestDocument = (bytes: Uint8Array, servedAs: string | undefined) =>
  Effect.gen(function*() {
    const shape = yield* decodeShape(bytes)
    const mediaType = shape.mediaType ?? servedAs?.split(";")[0]?.trim().toLowerCase() ?? ""
    if (shape.manifests !== undefined && shape.layers !== undefined) {
      return yield* imageError("invalid_image", "The image manifest is both a manifest and an index")
    }
    if (manifestTypes.has(mediaType)) {
      return { _tag: "Manifest", mediaType, manifest: yield* decodeManifest(bytes) } satisfies Document
    }
    if (indexTypes.has(mediaType)) {
      return { _tag: "Index", mediaType, index: yield* decodeIndex(bytes) } satisfies Document
    }
    return yield* imageError("unsupported", `Manifests of type ${JSON.stringify(mediaType)} are not supported`)
  })
