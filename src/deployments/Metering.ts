import { Machines } from "#src/machines/Machines.ts"
import { Clock, Effect } from "effect"
import { FleetRepo } from "./FleetRepo.ts"

/** A tick that comes late, on a machine that slept, does not bill the sleep. */
const longest = 60_000

/** Counts what machines run. Each tick bills the time since the last one to every machine that runs then. */
export class Metering extends Effect.Service<Metering>()("deployments/Metering", {
  effect: Effect.gen(function*() {
    const machines = yield* Machines
    const repo = yield* FleetRepo
    let last = yield* Clock.currentTimeMillis

    return {
      tick: Effect.fn("Metering.tick")(function*() {
        const now = yield* Clock.currentTimeMillis
        const milliseconds = Math.max(0, Math.min(longest, now - last))
        last = now
        const running = (yield* machines.list()).filter(({ status }) => status === "running")
        yield* repo.meter(running.map(({ owner }) => ({ serverId: owner, milliseconds })))
      })
    } as const
  })
}) {}
