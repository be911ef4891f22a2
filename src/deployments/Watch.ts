import { Deferred, type Duration, Effect, PubSub, Stream } from "effect"
import { type DeploymentRow } from "./Deployment.ts"
import { isSettled } from "./transitions.ts"

/**
 * Wakes fibers that wait for a deployment. It is only a hint: they then read the record. They also poll, because the
 * pipeline may run in another process.
 */
export class Watch extends Effect.Service<Watch>()("deployments/Watch", {
  effect: Effect.gen(function*() {
    const changes = yield* PubSub.sliding<string>(1024)
    const ending = new Map<string, Deferred.Deferred<void>>()
    return {
      /** For the end of a deployment: what follows from it in this process is a part of it. */
      ends: <A, E, R>(id: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        Effect.acquireUseRelease(
          Effect.tap(Deferred.make<void>(), (end) => Effect.sync(() => ending.set(id, end))),
          () => effect,
          (end) => Effect.zipRight(Effect.sync(() => ending.delete(id)), Deferred.succeed(end, undefined))
        ),
      /** Whoever has read that it ended waits for what follows: the record is there a moment before. */
      ended: ({ id, status }: Pick<DeploymentRow, "id" | "status">) =>
        Effect.suspend(() => {
          const end = ending.get(id)
          return end === undefined || !isSettled(status) ? Effect.void : Deferred.await(end)
        }),
      changed: (id: string) => Effect.asVoid(PubSub.publish(changes, id)),
      /** Emits at once, at each change, and every so often. */
      ticks: (id: string, every: Duration.DurationInput = "500 millis"): Stream.Stream<void> =>
        Stream.merge(
          Stream.fromPubSub(changes).pipe(Stream.filter((changed) => changed === id), Stream.as(undefined)),
          Stream.tick(every)
        )
    } as const
  })
}) {}
