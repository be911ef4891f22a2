import { Effect } from "effect"

/**
 * A mutex for each key, which exists only while someone holds it or waits for it: `isHeld` tells whether it does. With
 * more `permits` that many hold it at once. `ifFree` works now or not at all: `None`.
 */
export const keyedMutex = (permits = 1) => {
  const locks = new Map<string, { readonly mutex: Effect.Semaphore; users: number }>()

  const enter = (key: string) =>
    Effect.sync(() => {
      const lock = locks.get(key) ?? { mutex: Effect.unsafeMakeSemaphore(permits), users: 0 }
      lock.users++
      locks.set(key, lock)
      return lock
    })

  const leave = (key: string) => (lock: { users: number }) =>
    Effect.sync(() => {
      if (--lock.users === 0) locks.delete(key)
    })

  const withLock = (key: string) => <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(enter(key), (lock) => lock.mutex.withPermits(1)(work), leave(key))

  const ifFree = (key: string) => <A, E, R>(work: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(enter(key), (lock) => lock.mutex.withPermitsIfAvailable(1)(work), leave(key))

  return Object.assign(withLock, { ifFree, isHeld: (key: string) => locks.has(key) })
}
