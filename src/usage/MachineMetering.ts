import { makeCounters } from "#src/jobs/write-behind.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Clock, Effect } from "effect"
import { UsageRepo } from "./UsageRepo.ts"

/** A tick that comes late, on a machine that slept, does not bill the sleep. */
const longest = 60_000

/** More machines than a host runs: each write is one statement. */
const capacity = 100_000

/** Counts what machines run. Each tick bills the time since the last one to every machine that runs then. */
export class MachineMetering extends Effect.Service<MachineMetering>()("usage/MachineMetering", {
  effect: Effect.gen(function*() {
    const machines = yield* Machines
    const repo = yield* UsageRepo
    let last = yield* Clock.currentTimeMillis
    /** What is not in the database yet: while it is away it adds up, by server. */
    const owed = makeCounters({
      what: "milliseconds of machines",
      names: ["milliseconds"],
      capacity,
      batch: capacity,
      write: repo.meter
    })

    return {
      tick: Effect.fn("MachineMetering.tick")(function*() {
        const now = yield* Clock.currentTimeMillis
        const milliseconds = Math.max(0, Math.min(longest, now - last))
        last = now
        const running = (yield* machines.list()).filter(({ status }) => status === "running")
        for (const { owner } of running) {
          owed.add(owner, () => ({ serverId: owner, milliseconds: 0 }), "milliseconds", milliseconds)
        }
        yield* owed.flush
      })
    } as const
  })
}) {}
