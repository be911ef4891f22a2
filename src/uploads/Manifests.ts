import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { Quotas } from "#src/accounts/Quotas.ts"
import { CurrentSettings } from "#src/config/Settings.ts"
import { ImageCleanup } from "#src/images/ImageCleanup.ts"
import { Images } from "#src/images/Images.ts"
import { ImageLimits } from "#src/images/limits.ts"
import { type Descriptor, digestOf } from "#src/images/manifest.ts"
import { digestPattern, tagPattern } from "#src/images/reference.ts"
import { makeStore } from "#src/images/Store.ts"
import { orDiskFull } from "#src/shared/disk-full.ts"
import { transactionally } from "#src/shared/sql.ts"
import { SqlClient } from "@effect/sql"
import { Effect, Option } from "effect"
import { join } from "node:path"
import { Readable } from "node:stream"
import { readDocument } from "./manifest-document.ts"
import { ManifestsRepo, type StoredManifest } from "./ManifestsRepo.ts"
import { repositoryUnknown } from "./names.ts"
import { type Place } from "./places.ts"
import { refused } from "./Refusal.ts"
import { UploadQuota } from "./UploadQuota.ts"
import { UploadsRepo } from "./UploadsRepo.ts"

/** PostgreSQL has no NUL; the same tags follow the text before it. */
const beforeNul = (text: string) => text.replace(/\u0000.*$/s, "")

/** Manifests of repositories, which name blobs of their project alone, and the tags that name manifests. */
export class Manifests extends Effect.Service<Manifests>()("uploads/Manifests", {
  effect: Effect.gen(function*() {
    const { home } = yield* CurrentSettings
    const limits = yield* ImageLimits
    const repo = yield* ManifestsRepo
    const blobs = yield* UploadsRepo
    const quota = yield* UploadQuota
    const quotas = yield* Quotas
    const images = yield* Images
    const cleanup = yield* ImageCleanup
    const sql = yield* SqlClient.SqlClient
    const store = makeStore(join(home, "images"))

    const lookUp = (place: Place, reference: string) => {
      if (digestPattern.test(reference)) return repo.byDigest(place, reference)
      return tagPattern.test(reference) ? repo.byTag(place, reference) : Effect.succeedNone
    }

    const find = Effect.fn("Manifests.find")(function*(place: Place, reference: string) {
      const known = yield* lookUp(place, reference)
      if (Option.isNone(known)) {
        return yield* refused("MANIFEST_UNKNOWN", `The repository ${place.name} has no ${reference.slice(0, 200)}`)
      }
      return known.value
    })

    const read = ({ digest }: StoredManifest) =>
      Effect.mapError(
        store.read(digest, limits.document),
        () => refused("MANIFEST_UNKNOWN", "The platform's store has lost this manifest: push it again")
      )

    /** What the project does not have itself does not exist for its manifests. */
    const checkNamed = Effect.fnUntraced(function*(
      named: ReadonlyArray<Descriptor>,
      known: ReadonlyArray<{ readonly digest: string; readonly size: number }>
    ) {
      const sizes = new Map(known.map(({ digest, size }) => [digest, size]))
      for (const { digest, size } of named) {
        const actual = sizes.get(digest)
        if (actual === undefined) {
          return yield* refused("MANIFEST_BLOB_UNKNOWN", `The project has no ${digest}: push it first`, { digest })
        }
        if (actual !== size) {
          return yield* refused("MANIFEST_INVALID", `${digest} has ${actual} bytes, and the manifest says ${size}`)
        }
      }
    })

    const put = Effect.fn("Manifests.put")(function*(
      place: Place,
      reference: string,
      bytes: Buffer,
      contentType: string | undefined
    ) {
      const actor = yield* CurrentActor
      const digest = digestOf(bytes)
      const isDigest = reference.includes(":")
      if (isDigest && reference !== digest) {
        return yield* refused("DIGEST_INVALID", `The manifest has the digest ${digest}, and not the one in its address`)
      }
      if (!isDigest && !tagPattern.test(reference)) {
        return yield* refused("MANIFEST_INVALID", "A tag is 1 to 128 letters, digits, . _ or -")
      }
      const document = yield* readDocument(bytes, contentType)
      yield* images.pin([digest])
      yield* Effect.zipRight(
        store.prepare,
        store.put({ digest, size: bytes.length }, Effect.sync(() => Readable.from([bytes])))
      ).pipe(Effect.mapError(({ message }) => refused("DISK_FULL", orDiskFull(message))))
      const write = Effect.gen(function*() {
        const named = [...document.blobs, ...document.manifests]
        const ofBlobs = document.blobs.map((blob) => blob.digest)
        const ofManifests = document.manifests.map((manifest) => manifest.digest)
        if (ofBlobs.length > 0) yield* checkNamed(document.blobs, yield* repo.blobs(place.projectId, ofBlobs))
        if (ofManifests.length > 0) yield* checkNamed(document.manifests, yield* repo.manifests(place, ofManifests))
        const before = isDigest ? Option.none() : yield* repo.byTag(place, reference)
        const manifest = { digest, mediaType: document.mediaType, size: bytes.length }
        yield* repo.put(place, manifest, [...new Set(named.map((one) => one.digest))])
        if (!isDigest) yield* repo.tag(place, reference, digest)
        if (Option.isSome(before) && before.value.digest !== digest) yield* repo.mark(place, before.value.digest)
      })
      const isKnown = Option.isSome(yield* repo.byDigest(place, digest))
      yield* quota.admit(actor, isKnown ? 0 : bytes.length, "", write)
      return digest
    }, Effect.scoped)

    /** Removes a manifest, and what nothing else needs: the manifests of an index, and blobs. */
    const drop = (place: Place, digest: string): Effect.Effect<void> =>
      Effect.gen(function*() {
        const named = yield* repo.references(place, digest)
        yield* repo.remove(place, digest)
        if (named.length === 0) return
        for (const one of named) if (yield* repo.isUnnamed(place, one)) yield* drop(place, one)
        yield* blobs.removeUnnamed(place.projectId, named)
      })

    const locked = (accountId: string) => <A, E, R>(work: Effect.Effect<A, E, R>) =>
      Effect.zipLeft(
        Effect.zipRight(quotas.lock(accountId), work).pipe(transactionally(sql)),
        cleanup.request
      )

    /** Removes a tag, with its manifest when nothing else names that; or a manifest with all its tags. */
    const remove = Effect.fn("Manifests.remove")(function*(place: Place, reference: string) {
      const { accountId } = yield* CurrentActor
      yield* locked(accountId)(Effect.gen(function*() {
        const { digest } = yield* find(place, reference)
        if (!digestPattern.test(reference)) {
          yield* repo.untag(place, reference)
          if (yield* repo.isUnnamed(place, digest)) yield* drop(place, digest)
          return
        }
        const [index] = yield* repo.namedBy(place, digest)
        if (index !== undefined) return yield* refused("DENIED", `The index ${index} names it: delete that first`)
        yield* drop(place, digest)
      }))
    })

    const discard = (accountId: string, place: Place, digest: string) => locked(accountId)(drop(place, digest))

    /** Up to so many tags after one, in the order of their bytes. */
    const tags = Effect.fn("Manifests.tags")(function*(place: Place, after: string, count: number) {
      if (!(yield* repo.isKnown(place))) return yield* repositoryUnknown(place.name)
      return yield* repo.tags(place, beforeNul(after), count)
    })

    /** Removes what lost its last tag a day ago. */
    const forget = Effect.gen(function*() {
      for (const { accountId, digest, ...place } of yield* repo.untagged()) {
        yield* discard(accountId, place, digest)
      }
    })

    return { find, read, put, remove, discard, tags, forget } as const
  })
}) {}
