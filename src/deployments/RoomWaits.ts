import { failedOnFullDisk } from "#src/shared/disk-full.ts"
import { outageIn } from "#src/shared/outage.ts"
import { Clock, Effect } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import { isSettled } from "./transitions.ts"

const longestPause = 3_000
/** Milliseconds without room after which deployments under way are failed, as after half a minute without a database. */
const longestWait = 30_000

const note = "Waiting for room: the platform's disk is full"

/**
 * What of deployments waits because the database has no room for it. Then no record can say so either, and whoever
 * reads one is told from here.
 */
export class RoomWaits extends Effect.Service<RoomWaits>()("deployments/RoomWaits", {
  sync: () => {
    /** Since when, in Unix milliseconds. */
    const waiting = new Map<symbol, number>()

    /** Tries again while the database is away or has no room. Only a pause can be interrupted: the process may end. */
    const patiently = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.suspend(() => {
        const key = Symbol("wait")
        const attempt = (pause: number): Effect.Effect<A, E, R> =>
          Effect.catchAllCause(work, (cause) =>
            outageIn(cause) === undefined ? Effect.failCause(cause) : Effect.gen(function*() {
              if (failedOnFullDisk(cause) && !waiting.has(key)) {
                waiting.set(key, yield* Clock.currentTimeMillis)
              }
              yield* Effect.interruptible(Effect.sleep(pause))
              return yield* attempt(Math.min(longestPause, pause * 2))
            }))
        return Effect.ensuring(
          attempt(250),
          Effect.sync(() =>
            waiting.delete(key)
          )
        )
      })

    return {
      patiently,
      /** The record as it is shown: while something waits, with that as what its stage waits for. */
      told: (row: DeploymentRow): DeploymentRow => waiting.size === 0 || isSettled(row.status) ? row : { ...row, note },
      isTooLong: Effect.map(
        Clock.currentTimeMillis,
        (now) => [...waiting.values()].some((since) => now - since >= longestWait)
      )
    } as const
  }
}) {}
