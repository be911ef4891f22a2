import { ImageCleanup } from "#src/images/ImageCleanup.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Effect } from "effect"
import { FleetRepo } from "./FleetRepo.ts"
import { Launch } from "./Launch.ts"
import { isLeftover } from "./leftover-rule.ts"

/** Destroys machines that serve nobody and never will. */
export class Leftovers extends Effect.Service<Leftovers>()("deployments/Leftovers", {
  effect: Effect.gen(function*() {
    const machines = yield* Machines
    const repo = yield* FleetRepo
    const launch = yield* Launch
    const cleanup = yield* ImageCleanup

    const destroy = (graceSeconds?: number) => (name: string) =>
      Effect.catchAll(
        launch.destroy(name, graceSeconds),
        (error) => Effect.logWarning(`${name} can't be destroyed yet`, error)
      )

    /** Machines are listed before their records are read: a record is there before its machine is. */
    const leftover = Effect.fnUntraced(function*(owner: string | undefined, sparing: boolean) {
      const names = (yield* machines.list(owner)).map(({ name }) => name)
      const records = new Map((yield* repo.machines(names)).map((record) => [record.id, record]))
      return names.filter((name) => {
        const record = records.get(name)
        const drains = record?.activeStage === "swapping" || record?.activeStage === "draining"
        return isLeftover(record) && !(sparing && drains)
      })
    })

    return {
      /** Of one server, by the pipeline that has drained them. */
      ofServer: Effect.fn("Leftovers.ofServer")(function*(serverId: string) {
        yield* Effect.forEach(yield* leftover(serverId, false), destroy(), { concurrency: 4, discard: true })
      }),
      /** Of all servers, without patience, but for machines that a pipeline is draining. */
      ofAll: Effect.fn("Leftovers.ofAll")(function*() {
        const names = yield* leftover(undefined, true)
        yield* Effect.forEach(names, destroy(0), { concurrency: 4, discard: true })
        if (names.length > 0) yield* cleanup.request
        return names
      })
    } as const
  })
}) {}
