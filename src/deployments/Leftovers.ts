import { ImageCleanup } from "#src/images/ImageCleanup.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Effect } from "effect"
import { FleetRepo } from "./FleetRepo.ts"
import { Launch } from "./Launch.ts"
import { isLeftover } from "./leftover-rule.ts"
import { PackageScripts } from "./PackageScripts.ts"

/** Destroys machines that don't serve and never will. */
export class Leftovers extends Effect.Service<Leftovers>()("deployments/Leftovers", {
  effect: Effect.gen(function*() {
    const machines = yield* Machines
    const repo = yield* FleetRepo
    const launch = yield* Launch
    const cleanup = yield* ImageCleanup
    const scripts = yield* PackageScripts

    const destroy = (graceSeconds?: number) => (name: string) =>
      Effect.catchAll(
        launch.destroy(name, graceSeconds),
        (error) => Effect.logWarning(`${name} can't be destroyed yet`, error)
      )

    /** Lists machines before it reads their records, because a record is always written before its machine exists. */
    const leftover = Effect.fnUntraced(function*(owner: string | undefined, spareDraining: boolean) {
      const names = (yield* machines.list(owner)).map(({ name }) => name)
      const records = new Map((yield* repo.machines(names)).map((record) => [record.id, record]))
      return names.filter((name) => {
        // No deployment has such a name: what a crash left goes, as nobody waits for it any more.
        if (scripts.isRunning(name)) return false
        const record = records.get(name)
        const drains = record?.activeStage === "swapping" || record?.activeStage === "draining"
        return isLeftover(record) && !(spareDraining && drains)
      })
    })

    return {
      /** For one server, called by its pipeline after draining. */
      ofServer: Effect.fn("Leftovers.ofServer")(function*(serverId: string) {
        yield* Effect.forEach(yield* leftover(serverId, false), destroy(), { concurrency: 4, discard: true })
      }),
      /** For all servers, without a grace period; skips machines that a pipeline is draining. */
      ofAll: Effect.fn("Leftovers.ofAll")(function*() {
        const names = yield* leftover(undefined, true)
        yield* Effect.forEach(names, destroy(0), { concurrency: 4, discard: true })
        if (names.length > 0) yield* cleanup.request
        return names
      })
    } as const
  })
}) {}
