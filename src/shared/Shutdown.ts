import { CurrentSettings } from "#src/config/Settings.ts"
import { Deferred, Effect } from "effect"

/**
 * How long an orderly end may take: `SHUTDOWN_SECONDS` for everything together, from the moment that anybody asks. Whoever
 * waits for something waits no longer than its share, and not at all once the end is hurried.
 */
export class Shutdown extends Effect.Service<Shutdown>()("shared/Shutdown", {
  effect: Effect.gen(function*() {
    const { shutdownSeconds } = yield* CurrentSettings
    const hurried = yield* Deferred.make<void>()
    let began: number | undefined

    /** Milliseconds until that share of the whole time is over. The clock is the process's own: it can't be set. */
    const leftOf = (share: number) =>
      Effect.map(Deferred.isDone(hurried), (isHurried) => {
        began ??= performance.now()
        return isHurried ? 0 : Math.max(0, began + shutdownSeconds * 1000 * share - performance.now())
      })

    /** Waits until that share is over, or the end is hurried. */
    const over = (share: number) =>
      Effect.flatMap(leftOf(share), (left) => Effect.raceFirst(Effect.sleep(left), Deferred.await(hurried))).pipe(
        // Finalizers can't be interrupted, and what races there must be.
        Effect.interruptible
      )

    return {
      leftOf,
      over,
      hurry: Effect.asVoid(Deferred.succeed(hurried, undefined)),
      /** Waits for the work, and no longer than that; true when it came to its own end. */
      within: <A, E, R>(share: number, work: Effect.Effect<A, E, R>) =>
        Effect.raceFirst(
          Effect.as(Effect.interruptible(Effect.disconnect(work)), true),
          Effect.as(over(share), false)
        )
    } as const
  })
}) {}

/** How much of the whole time may be over when each part of the end is. */
export const shares = { calls: 0.45, requests: 0.5, machines: 0.75, output: 0.9, database: 0.95 } as const
