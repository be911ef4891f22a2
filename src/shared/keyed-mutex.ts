import { Effect } from "effect"

/** A mutex per key, kept only while someone holds or waits for it. */
export const keyedMutex = () => {
  const held = new Map<string, { readonly mutex: Effect.Semaphore; users: number }>()

  const enter = (key: string) =>
    Effect.sync(() => {
      const lock = held.get(key) ?? { mutex: Effect.unsafeMakeSemaphore(1), users: 0 }
      lock.users++
      held.set(key, lock)
      return lock
    })

  const leave = (key: string) => (lock: { users: number }) =>
    Effect.sync(() => {
      if (--lock.users === 0) held.delete(key)
    })

  return (key: string) => <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(enter(key), (lock) => lock.mutex.withPermits(1)(work), leave(key))
}
