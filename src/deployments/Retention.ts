import { ImageCleanup } from "#src/images/ImageCleanup.ts"
import { Images } from "#src/images/Images.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Effect } from "effect"
import { JournalRepo } from "./JournalRepo.ts"
import { neededVersions } from "./retention-rule.ts"
import { RetentionRepo } from "./RetentionRepo.ts"

/** Frees what no version needs any more: images, and the engine's journal of pipelines that ended. */
export class Retention extends Effect.Service<Retention>()("deployments/Retention", {
  effect: Effect.gen(function*() {
    const images = yield* Images
    const cleanup = yield* ImageCleanup
    const machines = yield* Machines
    const repo = yield* RetentionRepo
    const journal = yield* JournalRepo

    /** Digests that run, may be run by a rollback, are on their way, or that a machine stands on. */
    const digests = Effect.gen(function*() {
      const standing = (yield* machines.list()).map(({ name }) => name)
      const needed = neededVersions(yield* repo.versions(standing), new Set(standing))
      return new Set(needed.map(({ imageDigest }) => imageDigest))
    })

    const removeImages = Effect.fn("Retention.removeImages")(function*() {
      const collected = yield* images.collect(digests)
      yield* Effect.logDebug("Collected images", collected)
      yield* repo.forgetImages
    })

    const collect = Effect.fn("Retention.collect")(function*() {
      yield* removeImages()
      yield* journal.forget
    })

    return {
      collect,
      removeImages,
      /** Waits until images may have become unneeded. */
      asked: cleanup.requested
    } as const
  })
}) {}
