import { Cause, Effect, FiberSet, Layer, Ref, Schedule } from "effect"

/**
 * Whether the process is shutting down. Durable pipelines run their work through here: a shutdown interrupts it without
 * an outcome, as a crash would, and it is repeated after the next start. Without this a machine that stops together
 * with the platform would count as crashed.
 */
export class Stopping extends Effect.Service<Stopping>()("deployments/Stopping", {
  scoped: Effect.gen(function*() {
    const stopping = yield* Ref.make(false)
    const fibers = yield* FiberSet.make()
    const run = yield* FiberSet.runtime(fibers)()
    const begin = Effect.zipRight(Ref.set(stopping, true), FiberSet.clear(fibers))

    /** Pauses, because until it is closed the engine delivers interrupted work again at once. */
    const interrupted = Effect.zipRight(Effect.sleep("100 millis"), Effect.interrupt)

    /**
     * Runs in a separate, interruptible fiber: the engine runs activities uninterruptibly, where even a timeout would
     * wait for the effect that it limits.
     */
    const guarded = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.gen(function*() {
        if (yield* stopping) return yield* interrupted
        const exit = yield* run(effect).await
        return (yield* stopping) ? yield* interrupted : yield* exit
      })

    return {
      /** From now on no guarded effect completes. */
      begin,
      isOn: Ref.get(stopping),
      guarded
    } as const
  })
}) {}

/** An activity's policy that keeps interruptions. By default they become defects, which the engine records. */
export const staysInterrupted = Schedule.recurWhileEffect((cause: Cause.Cause<unknown>) =>
  Cause.isInterrupted(cause) ? Effect.interrupt : Effect.succeed(false)
)

/** Begins stopping before the layer that it is provided to is closed. */
export const StopsFirst = Layer.scopedDiscard(
  Effect.flatMap(Stopping, (stopping) => Effect.addFinalizer(() => stopping.begin))
)
