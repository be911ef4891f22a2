import { CurrentSettings } from "#src/config/Settings.ts"
import type { ImageConfig } from "#src/machines/Machines.ts"
import { GuardedHttp } from "#src/shared/GuardedHttp.ts"
import { Effect, Option, Schema } from "effect"
import { join } from "node:path"
import { arch } from "node:process"
import { type Collected, collectGarbage } from "./collect.ts"
import { type Holder } from "./HeldBlobs.ts"
import { type ImageError, imageError } from "./ImageError.ts"
import { blobsOf, decodeConfig, findImage, imageConfig, readManifest } from "./inspect.ts"
import { layoutSource } from "./LayoutSource.ts"
import { ImageLimits } from "./limits.ts"
import { type Login } from "./login.ts"
import { ImageDigest, mediaTypes } from "./manifest.ts"
import { makePins } from "./pins.ts"
import { architectureOf } from "./platform.ts"
import { type OnProgress, puller } from "./pull.ts"
import { checkDigest, digestPattern, parseReference } from "./reference.ts"
import { registrySource } from "./Registry.ts"
import { makeRootfs } from "./Rootfs.ts"
import type { Source } from "./Source.ts"
import { storeSource } from "./store-source.ts"
import { makeStore } from "./Store.ts"

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

/**
 * An unpacked image. `bytes` is its unpacked size, undefined if it was unpacked already. Never follow symbolic links
 * below `rootfs` from outside of it: they are the image's.
 */
export interface UnpackedImage {
  readonly rootfs: string
  readonly config: ImageConfig
  readonly bytes: number | undefined
}

/**
 * The images that machines run: resolved in a registry (or, outside production, in an OCI layout on disk), mirrored by
 * digest into `{home}/images`, unpacked into `{home}/rootfs`. A mirrored image no longer needs its registry.
 */
export class Images extends Effect.Service<Images>()("images/Images", {
  effect: Effect.gen(function*() {
    const settings = yield* CurrentSettings
    const http = yield* GuardedHttp
    const limits = yield* ImageLimits
    const store = makeStore(join(settings.home, "images"))
    const rootfs = makeRootfs(settings.home, store, limits)
    const pins = makePins()
    const pull = puller(store, limits, pins)
    const collecting = yield* Effect.makeSemaphore(1)

    const registry = { http, limits, loopback: !settings.production }
    const ownHost = new URL(settings.baseUrl).host
    const sourceOf = (imageUri: string, login: Login | undefined): Effect.Effect<Source, ImageError> =>
      Effect.flatMap(parseReference(imageUri), (reference) => {
        if (reference._tag === "Registry" && reference.registry === ownHost) {
          return imageError("not_found", `${imageUri} is not in the platform's store any more: push it again`)
        }
        if (reference._tag === "Registry") return registrySource(registry, reference, login)
        return settings.production
          ? imageError("not_allowed", "oci: images are for development: in production an image comes from a registry")
          : Effect.succeed(layoutSource(limits, reference))
      })

    const stored = Effect.fnUntraced(function*(digest: string) {
      const bytes = yield* store.read(digest, limits.document)
      // A manifest need not name its own type (image-spec, manifest.md); Docker's always do.
      return yield* readManifest({ bytes, digest, mediaType: mediaTypes.manifest }, limits)
    })

    /** The digests that an image consists of. Cached, because manifests are immutable. */
    const closures = new Map<string, ReadonlyArray<string>>()
    const closure = Effect.fnUntraced(function*(digest: string) {
      const cached = closures.get(digest)
      if (cached !== undefined) return cached
      const image = yield* Effect.option(stored(digest))
      if (Option.isNone(image)) return [digest]
      const all = [digest, ...blobsOf(image.value).map((blob) => blob.digest)]
      closures.set(digest, all)
      return all
    })

    /** Makes a running collection keep the image, because the caller is about to use it. */
    const touch = (digest: string) => Effect.scoped(Effect.flatMap(closure(digest), pins.pin))

    /** Whether the store has the complete image, ready to unpack without its registry. */
    const has = Effect.fn("Images.has")(function*(digest: string) {
      yield* checkDigest(digest)
      yield* touch(digest)
      const image = yield* stored(digest)
      const present = yield* Effect.forEach(blobsOf(image), store.has)
      return present.every((isPresent) => isPresent)
    }, Effect.catchAll(() => Effect.succeed(false)))

    /** Whether the image's files are there to run. */
    const isUnpacked = (digest: string) => digestPattern.test(digest) ? rootfs.has(digest) : Effect.succeed(false)

    const find = Effect.fnUntraced(function*(source: Source, imageUri: string) {
      const { digest, mediaType, totalSize } = yield* findImage(source, architectureOf(arch), limits)
      yield* touch(digest)
      return { imageUri, digest, mediaType, totalSize } satisfies ResolvedImage
    })

    /** Resolves the address to the current image for this machine's architecture. Stores nothing. */
    const resolve = Effect.fn("Images.resolve")((imageUri: string, login?: Login) =>
      Effect.flatMap(sourceOf(imageUri, login), (source) => find(source, imageUri))
    )

    /** The image of a known digest at the address it came from, even if that address now names another image. */
    const pinned = Effect.fn("Images.pinned")((imageUri: string, digest: string, login?: Login) =>
      Effect.flatMap(sourceOf(imageUri, login), (source) => pinnedIn(source, imageUri, digest))
    )

    const pinnedIn = Effect.fnUntraced(function*(source: Source, imageUri: string, digest: string) {
      yield* checkDigest(digest)
      const root = Effect.map(
        source.manifest(digest),
        (document) => ({ ...document, mediaType: document.mediaType ?? mediaTypes.manifest })
      )
      const { mediaType, totalSize } = yield* findImage({ ...source, root }, architectureOf(arch), limits)
      return { imageUri, digest, mediaType, totalSize } satisfies ResolvedImage
    })

    const isHeld = Effect.fnUntraced(function*(digest: string, holder: Holder | undefined) {
      if (holder === undefined) return true
      return yield* Effect.every(blobsOf(yield* stored(digest)), (blob) => holder.holds(blob.digest))
    })

    const copy = Effect.fnUntraced(function*(
      from: Effect.Effect<Source, ImageError>,
      resolved: ResolvedImage,
      onProgress: OnProgress = () => Effect.void,
      holder?: Holder
    ) {
      yield* checkDigest(resolved.digest)
      yield* pins.pin([resolved.digest])
      yield* store.prepare
      if ((yield* has(resolved.digest)) && (yield* isHeld(resolved.digest, holder))) return
      const { bytes, digest, mediaType } = yield* pull(yield* from, resolved, onProgress, holder)
      yield* store.updateIndex((manifests) => [
        ...manifests.filter((listed) => listed.digest !== digest),
        {
          mediaType,
          digest,
          size: bytes.length,
          annotations: { "org.opencontainers.image.ref.name": resolved.imageUri }
        }
      ])
    }, Effect.scoped)

    /**
     * Copies the image into the local store and verifies every byte. Stored blobs are not pulled again, but those that
     * the `holder` has not received yet: a registry of theirs could name what belongs to others.
     */
    const mirror = Effect.fn("Images.mirror")(
      (resolved: ResolvedImage, login?: Login, onProgress?: OnProgress, holder?: Holder) =>
        copy(sourceOf(resolved.imageUri, login), resolved, onProgress, holder)
    )

    /** The image for this machine's architecture that a manifest or an index of the store names. */
    const inStore = Effect.fn("Images.inStore")((imageUri: string, digest: string, mediaType: string) =>
      find(storeSource(store, limits, digest, mediaType), imageUri)
    )

    /** Stores the one image of a layout that the platform has written itself, under the address it was made for. */
    const adopt = Effect.fn("Images.adopt")(function*(layout: string, imageUri: string) {
      const source = layoutSource(limits, { _tag: "Layout", path: layout })
      const resolved = yield* find(source, imageUri)
      yield* copy(Effect.succeed(source), resolved)
      return resolved
    })

    /** Stores the image of this digest from another place than its address names. */
    const take = Effect.fn("Images.take")((source: Source, imageUri: string, digest: string) =>
      Effect.flatMap(pinnedIn(source, imageUri, digest), (resolved) => copy(Effect.succeed(source), resolved))
    )

    /** What the store has under a digest, as it was resolved once. */
    const known = Effect.fn("Images.known")(function*(imageUri: string, digest: string) {
      yield* touch(digest)
      const { mediaType, totalSize } = yield* stored(digest)
      return { imageUri, digest, mediaType, totalSize } satisfies ResolvedImage
    })

    /**
     * The image's files and how to start it, from the local store only. Unpacked once, then reused; fails when it
     * unpacks to more than `most` bytes.
     */
    const unpack = Effect.fn("Images.unpack")(function*(digest: string, most = Infinity) {
      yield* checkDigest(digest)
      yield* pins.pin([digest])
      const image = yield* stored(digest)
      yield* pins.pin(blobsOf(image).map((blob) => blob.digest))
      const config = yield* decodeConfig(yield* store.read(image.manifest.config.digest, limits.document))
      const { bytes, directory } = yield* rootfs.ensure(digest, image.manifest, config, most)
      return { rootfs: directory, config: imageConfig(config), bytes } satisfies UnpackedImage
    }, Effect.scoped)

    /**
     * Removes every stored and unpacked image except those that `keeping` returns, and every blob that `alsoBlobs` does
     * not. Collections are serialised. Images that come into use while these run or later stay too: those resolved, looked
     * up, mirrored or unpacked here, and blobs that are pinned.
     */
    const collect = Effect.fn("Images.collect")(
      function*<E, R>(
        keeping: Effect.Effect<ReadonlySet<string>, E, R>,
        alsoBlobs: Effect.Effect<ReadonlyArray<string>> = Effect.succeed([])
      ) {
        yield* store.prepare
        const used = yield* pins.watch
        const keep = yield* keeping
        const needed = new Set([...(yield* Effect.forEach(keep, closure)).flat(), ...(yield* alsoBlobs)])
        for (const digest of closures.keys()) if (!keep.has(digest)) closures.delete(digest)
        const collected: Collected = yield* collectGarbage(store, rootfs, {
          blob: (digest) => needed.has(digest) || used.has(digest),
          rootfs: (digest) => keep.has(digest) || used.has(digest)
        })
        return collected
      },
      Effect.scoped,
      collecting.withPermits(1)
    )

    return {
      resolve,
      pinned,
      mirror,
      adopt,
      take,
      known,
      inStore,
      unpack,
      has,
      isUnpacked,
      collect,
      /** Keeps blobs from being collected until the scope closes. */
      pin: pins.pin,
      measure: rootfs.measure
    }
  })
}) {}
