import { Effect, FiberSet, Ref } from "effect"

/**
 * The process is about to end. Work that a durable pipeline does runs through here: when the process stops, it is
 * broken off without an outcome, exactly as a crash would, and goes on at the next start. Without this a machine that
 * is stopped with the platform would count as one that crashed.
 */
export class Stopping extends Effect.Service<Stopping>()("deployments/Stopping", {
  scoped: Effect.gen(function*() {
    const stopping = yield* Ref.make(false)
    const fibers = yield* FiberSet.make()
    const begin = Effect.zipRight(Ref.set(stopping, true), FiberSet.clear(fibers))
    yield* Effect.addFinalizer(() => begin)

    /**
     * Runs in a fiber of its own, where interruption works: the workflow engine runs activities uninterruptibly, and
     * a time limit there would wait for what it limits.
     */
    const guarded = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.gen(function*() {
        if (yield* stopping) return yield* Effect.never
        const run = yield* FiberSet.runtime(fibers)<R>()
        const exit = yield* run(effect).await
        return (yield* stopping) ? yield* Effect.never : yield* exit
      })

    return {
      /** From now on nothing that is guarded comes to an end. */
      begin,
      isOn: Ref.get(stopping),
      guarded
    } as const
  })
}) {}
