import { CurrentSettings } from "#src/config/Settings.ts"
import { Deferred, Effect, Fiber, Layer, Scope } from "effect"

/**
 * The time of an orderly shutdown: `SHUTDOWN_SECONDS` in total, from the first call on. Each part waits no longer than
 * its share of it, and not at all once the shutdown is hurried.
 */
export class Shutdown extends Effect.Service<Shutdown>()("shared/Shutdown", {
  effect: Effect.gen(function*() {
    const { shutdownSeconds } = yield* CurrentSettings
    const hurried = yield* Deferred.make<void>()
    const begun = yield* Deferred.make<void>()
    let startedAt: number | undefined

    /** Milliseconds until that share of the total is over, by a monotonic clock; `most` of the total from now on. */
    const remaining = (share: number, most = share) =>
      Effect.map(Deferred.isDone(hurried), (isHurried) => {
        const now = performance.now()
        startedAt ??= now
        Deferred.unsafeDone(begun, Effect.void)
        const millis = Math.min(startedAt - now + shutdownSeconds * 1000 * share, shutdownSeconds * 1000 * most)
        return isHurried ? 0 : Math.max(0, millis)
      })

    /** Waits until that share is over, or the shutdown is hurried. */
    const over = (share: number, most = share) =>
      Effect.flatMap(
        remaining(share, most),
        (millis) => Effect.raceFirst(Effect.sleep(millis), Deferred.await(hurried))
      )
        .pipe(
          // Finalizers are uninterruptible, and the loser of a race must be interruptible.
          Effect.interruptible
        )

    return {
      /** Completes in that share of a shutdown, once one has begun. */
      reaches: (share: number) => Effect.zipRight(Deferred.await(begun), over(share)),
      remaining,
      over,
      hurry: Effect.asVoid(Deferred.succeed(hurried, undefined)),
      /** Waits for the work until that share is over; true when the work completed. */
      within: <A, E, R>(share: number, work: Effect.Effect<A, E, R>, most = share) =>
        Effect.raceFirst(
          Effect.as(Effect.interruptible(Effect.disconnect(work)), true),
          Effect.as(over(share, most), false)
        )
    } as const
  })
}) {}

/** The share of the total time by which each part of the shutdown must end. */
export const shares = {
  answers: 0.4,
  calls: 0.45,
  requests: 0.5,
  machines: 0.75,
  output: 0.8,
  services: 0.86,
  connections: 0.87,
  database: 0.94
} as const

/** What machines have of the total at most, however early the part before them is over. */
export const machinesMost = shares.machines - shares.requests

/** A layer whose end is waited for until that share is over, so that what it was built on ends in any case. */
export const closesBy = (share: number) => <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R | Shutdown> =>
  Layer.scopedContext(Effect.gen(function*() {
    const { within } = yield* Shutdown
    const scope = yield* Effect.acquireRelease(
      Scope.make(),
      // A fiber of its own, which goes on.
      (scope, exit) =>
        Effect.forkDaemon(Scope.close(scope, exit)).pipe(
          Effect.flatMap((closing) => within(share, Fiber.await(closing))),
          Effect.flatMap((inTime) =>
            inTime ? Effect.void : Effect.logWarning("Not everything has ended in time; the end does not wait for it")
          )
        )
    )
    return yield* Layer.buildWithScope(layer, scope)
  }))
