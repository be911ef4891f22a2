import { ImageCleanup } from "#src/images/ImageCleanup.ts"
import { Machines } from "#src/machines/Machines.ts"
import { Sessions } from "#src/routing/Sessions.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { Clock, Effect, Fiber } from "effect"
import { drained, type Draining, type Reason } from "./drain-rule.ts"
import { DrainsRepo } from "./DrainsRepo.ts"
import { Launch } from "./Launch.ts"

const pause = "500 millis"
/** Until every gateway has heard that nothing is to be sent to a machine any more. */
export const untilHeard = "250 millis"

const why: Readonly<Record<Reason, string>> = {
  ended: "it has ended by itself",
  limit: "its time is over; what was open there is cut, and its sessions begin anew",
  "nothing open": "nothing is open there any more",
  "too many": "newer versions drain too; what was open there is cut, and its sessions begin anew"
}

/** Lets machines that were replaced finish what is open there, and removes them. */
export class Drains extends Effect.Service<Drains>()("deployments/Drains", {
  effect: Effect.gen(function*() {
    const repo = yield* DrainsRepo
    const machines = yield* Machines
    const sessions = yield* Sessions
    const launch = yield* Launch
    const cleanup = yield* ImageCleanup
    const logs = yield* ServerLogs
    /** Since when a draining machine has had no connection, in Unix milliseconds. */
    const quietSince = new Map<string, number>()

    const look = Effect.fn("Drains.look")(function*(serverId: string) {
      const rows = yield* repo.ofServer(serverId)
      const open = yield* sessions.openOf(rows.map(({ id }) => id))
      return yield* Effect.forEach(rows, (row) =>
        Effect.gen(function*() {
          const state = yield* Effect.option(machines.inspect(row.id))
          const isRunning = state._tag === "None" || state.value?.status === "running"
          const connections = yield* machines.connections(row.id)
          const now = yield* Clock.currentTimeMillis
          if (connections !== 0) quietSince.delete(row.id)
          else if (!quietSince.has(row.id)) quietSince.set(row.id, now)
          const since = quietSince.get(row.id)
          const quietMillis = since === undefined ? undefined : now - since
          return { ...row, isRunning, quietMillis, openSessions: open.get(row.id) ?? 0 } satisfies Draining
        }))
    })

    const remove = (id: string) =>
      Effect.catchAll(
        launch.destroy(id),
        (error) => Effect.logWarning(`${id} is left for the reconciler to destroy`, error)
      )

    /** Gateways send nothing there any more before the machine is told to end. */
    const end = Effect.fn("Drains.end")(
      function*(
        serverId: string,
        due: ReadonlyArray<{ readonly version: number; readonly id: string }>,
        told: (id: string) => string
      ) {
        if (due.length === 0) return
        const ended = new Set((yield* repo.end(due.map(({ id }) => id))).map(({ id }) => id))
        const mine = due.filter(({ id }) => ended.has(id))
        if (mine.length === 0) return
        for (const { id } of mine) quietSince.delete(id)
        const lines = mine.map(({ id, version }) => `Version ${version}: its machine goes: ${told(id)}`)
        yield* logs.append(serverId, lines.map((message) => ({ level: "info" as const, message })))
        yield* Effect.sleep(untilHeard)
        yield* Effect.forEach(mine, ({ id }) => remove(id), { concurrency: "unbounded", discard: true })
        yield* cleanup.request
      }
    )

    return {
      /** Until no version below this one drains any more. */
      before: Effect.fn("Drains.before")(function*(serverId: string, version: number) {
        const removals: Array<Fiber.RuntimeFiber<void>> = []
        for (;;) {
          const draining = yield* look(serverId)
          const ends = drained(draining)
          const due = draining.filter(({ id }) => ends.has(id))
          if (due.length > 0) {
            const removal = end(serverId, due, (id) => why[ends.get(id) ?? "limit"])
            removals.push(yield* Effect.fork(removal))
          }
          if (!draining.some((machine) => machine.version < version && !ends.has(machine.id))) break
          yield* Effect.sleep(pause)
        }
        yield* Fiber.joinAll(removals)
      }),
      /** At once: the server was stopped. */
      stop: Effect.fn("Drains.stop")(function*(serverId: string) {
        const draining = yield* repo.ofServer(serverId)
        yield* end(serverId, draining, () => "the server was stopped")
      })
    } as const
  })
}) {}
