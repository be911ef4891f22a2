import { HeldBlobs } from "#src/images/HeldBlobs.ts"
import { ImageCleanup } from "#src/images/ImageCleanup.ts"
import { Images } from "#src/images/Images.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Packages } from "#src/packages/Packages.ts"
import { Scans } from "#src/scanning/Scans.ts"
import { UploadedImages } from "#src/uploads/UploadedImages.ts"
import { Effect } from "effect"
import { JournalRepo } from "./JournalRepo.ts"
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
    const uploads = yield* UploadedImages
    const held = yield* HeldBlobs

    /** Digests that run, can be rolled back to, are being deployed, or that an existing machine uses. */
    const digests = Effect.gen(function*() {
      const machineNames = (yield* machines.list()).map(({ name }) => name)
      const needed = neededVersions(yield* repo.versions(machineNames), new Set(machineNames))
      return new Set(needed.map(({ imageDigest }) => imageDigest))
    })

    const removeImages = Effect.fn("Retention.removeImages")(function*() {
      const collected = yield* images.collect(digests, uploads.kept)
      yield* Effect.logDebug("Collected images", collected)
      yield* repo.forgetImages
      yield* packages.forget
    })

    const collect = Effect.fn("Retention.collect")(function*() {
      yield* uploads.forget()
      yield* removeImages()
      yield* held.forget
      yield* journal.forget
      yield* scans.forget
    })

    return {
      collect,
      removeImages,
      /** Waits until images may have become unused. */
      requested: cleanup.requested
    } as const
  })
}) {}
