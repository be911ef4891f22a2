import { Effect } from "effect"

interface Lock {
  readonly semaphore: Effect.Semaphore
  users: number
}

/** One at a time per server: starting, stopping and restarting its machine. For this process's machines only. */
export class ServerLocks extends Effect.Service<ServerLocks>()("deployments/ServerLocks", {
  sync: () => {
    const locks = new Map<string, Lock>()

    const enter = (serverId: string) =>
      Effect.sync(() => {
        const lock = locks.get(serverId) ?? { semaphore: Effect.unsafeMakeSemaphore(1), users: 0 }
        lock.users += 1
        locks.set(serverId, lock)
        return lock
      })
    const leave = (serverId: string, lock: Lock) =>
      Effect.sync(() => {
        lock.users -= 1
        if (lock.users === 0) locks.delete(serverId)
      })

    return {
      withLock: (serverId: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.acquireUseRelease(
          enter(serverId),
          ({ semaphore }) => semaphore.withPermits(1)(effect),
          (lock) => leave(serverId, lock)
        )
    } as const
  }
}) {}
