import { Effect, PubSub, Stream } from "effect"

/**
 * Wakes those who wait for a deployment. A hint, not the truth: who wakes reads the record, and looks now and then
 * without a hint, for the pipeline may run in another process.
 */
export class Watch extends Effect.Service<Watch>()("deployments/Watch", {
  effect: Effect.gen(function*() {
    const changes = yield* PubSub.sliding<string>(1024)
    return {
      changed: (id: string) => Effect.asVoid(PubSub.publish(changes, id)),
      /** Emits at once, at each change, and every half a second. */
      ticks: (id: string): Stream.Stream<void> =>
        Stream.merge(
          Stream.fromPubSub(changes).pipe(Stream.filter((changed) => changed === id), Stream.as(undefined)),
          Stream.tick("500 millis")
        )
    } as const
  })
}) {}
