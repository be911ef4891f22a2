import { Machines } from "#src/machines/Machines.ts"
import { Effect } from "effect"
import { ImageCleanup } from "./ImageCleanup.ts"

/**
 * Destroys the machines of deleted servers. Call it after their rows were deleted: if it is interrupted or fails, the
 * reaper destroys machines without a row. It also requests the removal of unused images.
 */
export class Teardown extends Effect.Service<Teardown>()("machines/Teardown", {
  effect: Effect.gen(function*() {
    const machines = yield* Machines
    const cleanup = yield* ImageCleanup

    const ofServer = Effect.fn("Teardown.ofServer")(function*(serverId: string) {
      const owned = yield* machines.list(serverId)
      yield* Effect.forEach(owned, ({ name }) => machines.destroy(name), { concurrency: 4, discard: true })
    }, Effect.catchAll((error) => Effect.logWarning("A machine of a deleted server was left for the reaper", error)))

    return {
      ofServers: (serverIds: ReadonlyArray<string>) =>
        Effect.forEach(serverIds, ofServer, { concurrency: 4, discard: true }).pipe(
          Effect.zipRight(cleanup.request),
          Effect.uninterruptible
        )
    } as const
  })
}) {}
