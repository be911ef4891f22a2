import { makeCounters } from "#src/jobs/write-behind.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Clock, Effect } from "effect"
import { UsageRepo } from "./UsageRepo.ts"

/** Bounds one tick, so that time during which the host slept is not billed. */
const maxTick = 60_000

/** More machines than a host runs, so that each write is one statement. */
const capacity = 100_000

/** Measures machines' running time. Each tick bills the time since the last one to every running machine. */
export class MachineMetering extends Effect.Service<MachineMetering>()("usage/MachineMetering", {
  effect: Effect.gen(function*() {
    const machines = yield* Machines
    const repo = yield* UsageRepo
    let last = yield* Clock.currentTimeMillis
    /** Not yet written, by server; accumulates while the database is down. */
    const unwritten = makeCounters({
      what: "milliseconds of machines",
      names: ["milliseconds"],
      capacity,
      batch: capacity,
      write: repo.meter
    })

    return {
      tick: Effect.fn("MachineMetering.tick")(function*() {
        const now = yield* Clock.currentTimeMillis
        const milliseconds = Math.max(0, Math.min(maxTick, now - last))
        last = now
        const running = (yield* machines.list()).filter(({ status }) => status === "running")
        for (const { owner } of running) {
          unwritten.add(owner, () => ({ serverId: owner, milliseconds: 0 }), "milliseconds", milliseconds)
        }
        yield* unwritten.flush
      })
    } as const
  })
}) {}
