import { HeldBlobs } from "#src/images/HeldBlobs.ts"
import { ImageCleanup } from "#src/images/ImageCleanup.ts"
import { Images } from "#src/images/Images.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Packages } from "#src/packages/Packages.ts"
import { Scans } from "#src/scanning/Scans.ts"
import { UploadedImages } from "#src/uploads/UploadedImages.ts"
import { Effect } from "effect"
import { JournalRepo } from "./JournalRepo.ts"
import { Mirroring } from "./Mirroring.ts"
import { neededVersions } from "./retention-rule.ts"
import { RetentionRepo } from "./RetentionRepo.ts"

/** Deletes what no version and no upload needs any longer: images, their scans, and the engine's journal of pipelines that ended. */
export class Retention extends Effect.Service<Retention>()("deployments/Retention", {
  effect: Effect.gen(function*() {
    const images = yield* Images
    const cleanup = yield* ImageCleanup
    const machines = yield* Machines
    const packages = yield* Packages
    const repo = yield* RetentionRepo
    const journal = yield* JournalRepo
    const scans = yield* Scans
    const mirroring = yield* Mirroring
    const uploads = yield* UploadedImages
    const held = yield* HeldBlobs

    /** Versions that run, can be rolled back to, are being deployed, or that an existing machine uses. */
    const needed = Effect.gen(function*() {
      const machineNames = (yield* machines.list()).map(({ name }) => name)
      return neededVersions(yield* repo.versions(machineNames), new Set(machineNames))
    })
    const digests = Effect.map(needed, (versions) => new Set(versions.map(({ imageDigest }) => imageDigest)))

    const removeImages = Effect.fn("Retention.removeImages")(function*() {
      const collected = yield* images.collect(digests, uploads.kept)
      yield* Effect.logDebug("Collected images", collected)
      yield* mirroring.removeUnneeded(digests)
      yield* repo.forgetImages
      yield* packages.forget
    })

    const collect = Effect.fn("Retention.collect")(function*() {
      yield* uploads.forget()
      yield* removeImages()
      yield* held.forget
      yield* journal.forget
      yield* scans.forget
      yield* mirroring.pushMissing(
        new Map((yield* needed).map(({ imageDigest, imageUri }) => [imageDigest, imageUri]))
      )
    })

    return {
      collect,
      removeImages,
      /** Waits until images may have become unused. */
      requested: cleanup.requested
    } as const
  })
}) {}
