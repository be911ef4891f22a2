import { CurrentSettings } from "#src/config/Settings.ts"
import { Deferred, Effect } from "effect"

/**
 * The time of an orderly shutdown: `SHUTDOWN_SECONDS` in total, from the first call on. Each part waits no longer than
 * its share of it, and not at all once the shutdown is hurried.
 */
export class Shutdown extends Effect.Service<Shutdown>()("shared/Shutdown", {
  effect: Effect.gen(function*() {
    const { shutdownSeconds } = yield* CurrentSettings
    const hurried = yield* Deferred.make<void>()
    let startedAt: number | undefined

    /** Milliseconds until that share of the total is over, by a monotonic clock. */
    const remaining = (share: number) =>
      Effect.map(Deferred.isDone(hurried), (isHurried) => {
        startedAt ??= performance.now()
        return isHurried ? 0 : Math.max(0, startedAt + shutdownSeconds * 1000 * share - performance.now())
      })

    /** Waits until that share is over, or the shutdown is hurried. */
    const over = (share: number) =>
      Effect.flatMap(remaining(share), (millis) => Effect.raceFirst(Effect.sleep(millis), Deferred.await(hurried)))
        .pipe(
          // Finalizers are uninterruptible, and the loser of a race must be interruptible.
          Effect.interruptible
        )

    return {
      remaining,
      over,
      hurry: Effect.asVoid(Deferred.succeed(hurried, undefined)),
      /** Waits for the work until that share is over; true when the work completed. */
      within: <A, E, R>(share: number, work: Effect.Effect<A, E, R>) =>
        Effect.raceFirst(
          Effect.as(Effect.interruptible(Effect.disconnect(work)), true),
          Effect.as(over(share), false)
        )
    } as const
  })
}) {}

/** The share of the total time by which each part of the shutdown must end. */
export const shares = { calls: 0.45, requests: 0.5, machines: 0.75, output: 0.9, database: 0.95 } as const
