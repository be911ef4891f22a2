import { Cause, Effect, FiberSet, Layer, Ref, Schedule } from "effect"

/**
 * The process is about to end. What a durable pipeline does runs through here: when the process stops it is broken
 * off without an outcome, as a crash would, and done again after the next start. Without this a machine that is
 * stopped with the platform would count as one that crashed.
 */
export class Stopping extends Effect.Service<Stopping>()("deployments/Stopping", {
  scoped: Effect.gen(function*() {
    const stopping = yield* Ref.make(false)
    const fibers = yield* FiberSet.make()
    const run = yield* FiberSet.runtime(fibers)()
    const begin = Effect.zipRight(Ref.set(stopping, true), FiberSet.clear(fibers))

    /** The engine delivers what was interrupted again until it is closed itself: not without a pause. */
    const brokenOff = Effect.zipRight(Effect.sleep("100 millis"), Effect.interrupt)

    /**
     * Runs in a fiber of its own, where interruption works: the engine runs activities uninterruptibly, and a time
     * limit there would wait for what it limits.
     */
    const guarded = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.gen(function*() {
        if (yield* stopping) return yield* brokenOff
        const exit = yield* run(effect).await
        return (yield* stopping) ? yield* brokenOff : yield* exit
      })

    return {
      /** From now on nothing that is guarded comes to an end. */
      begin,
      isOn: Ref.get(stopping),
      guarded
    } as const
  })
}) {}

/** An activity's policy for interruptions: the interruption stands. By default they become defects, and are recorded. */
export const staysInterrupted = Schedule.recurWhileEffect((cause: Cause.Cause<unknown>) =>
  Cause.isInterrupted(cause) ? Effect.interrupt : Effect.succeed(false)
)

/** Begins the stop before what it is provided to is closed. */
export const StopsFirst = Layer.scopedDiscard(
  Effect.flatMap(Stopping, (stopping) => Effect.addFinalizer(() => stopping.begin))
)
