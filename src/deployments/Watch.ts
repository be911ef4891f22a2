import { Effect, PubSub, Stream } from "effect"

/**
 * Wakes fibers that wait for a deployment. It is only a hint: they then read the record. They also poll, because the
 * pipeline may run in another process.
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
