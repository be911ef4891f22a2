import { Effect } from "effect"

/**
 * A mutex for each key, which exists only while someone holds it or waits for it: `isHeld` tells whether it does.
 */
export const keyedMutex = () => {
  const locks = new Map<string, { readonly mutex: Effect.Semaphore; users: number }>()

  const enter = (key: string) =>
    Effect.sync(() => {
      const lock = locks.get(key) ?? { mutex: Effect.unsafeMakeSemaphore(1), users: 0 }
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

  return Object.assign(withLock, { isHeld: (key: string) => locks.has(key) })
}
