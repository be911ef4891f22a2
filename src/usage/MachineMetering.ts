import { Machines } from "#src/machines/Machines.ts"
import { Clock, Effect } from "effect"
import { UsageRepo } from "./UsageRepo.ts"

/** A tick that comes late, on a machine that slept, does not bill the sleep. */
const longest = 60_000

/** Counts what machines run. Each tick bills the time since the last one to every machine that runs then. */
export class MachineMetering extends Effect.Service<MachineMetering>()("usage/MachineMetering", {
  effect: Effect.gen(function*() {
    const machines = yield* Machines
    const repo = yield* UsageRepo
    let last = yield* Clock.currentTimeMillis
    /** Milliseconds that are not in the database yet: while it is away they add up, by server. */
    const owed = new Map<string, number>()

    return {
      tick: Effect.fn("Metering.tick")(function*() {
        const now = yield* Clock.currentTimeMillis
        const milliseconds = Math.max(0, Math.min(longest, now - last))
        last = now
        const running = (yield* machines.list()).filter(({ status }) => status === "running")
        for (const { owner } of running) owed.set(owner, (owed.get(owner) ?? 0) + milliseconds)
        const due = [...owed].map(([serverId, milliseconds]) => ({ serverId, milliseconds }))
        yield* repo.meter(due)
        owed.clear()
      })
    } as const
  })
}) {}
