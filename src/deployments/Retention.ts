import { plans } from "#src/billing/Plan.ts"
import { Images } from "#src/images/Images.ts"
import { Array, Effect } from "effect"
import { JournalRepo } from "./JournalRepo.ts"
import { keptCount, keptVersions } from "./retention-rule.ts"
import { RetentionRepo } from "./RetentionRepo.ts"

/** Frees what no version needs any more: images, and the engine's journal of pipelines that ended. */
export class Retention extends Effect.Service<Retention>()("deployments/Retention", {
  effect: Effect.gen(function*() {
    const images = yield* Images
    const repo = yield* RetentionRepo
    const journal = yield* JournalRepo

    /** Digests that run, may be run by a rollback, or are on their way into the store. */
    const digests = Effect.map(repo.versions, (rows) => {
      const servers = Array.groupBy(rows, ({ serverId }) => serverId)
      return new Set(
        Object.values(servers).flatMap((versions) => {
          const [first] = versions
          const kept = keptVersions(versions, keptCount(plans[first.plan], first))
          return versions.filter(({ inFlight, version }) => inFlight || kept.has(version)).map(({ imageDigest }) =>
            imageDigest
          )
        })
      )
    })

    const collect = Effect.fn("Retention.collect")(function*() {
      const collected = yield* images.collect(yield* digests)
      yield* Effect.logDebug("Collected images", collected)
      yield* journal.forget
    })

    return { collect } as const
  })
}) {}
