import { Effect } from "effect"

/** A mutex per key, kept only while someone holds or waits for it. */
export const makeLocks = () => {
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

/** Counts who uses what, so that a collection can leave it alone. */
export const makePins = () => {
  const pins = new Map<string, number>()
  const watchers = new Set<Set<string>>()
  const change = (keys: ReadonlyArray<string>, by: number) =>
    Effect.sync(() => {
      for (const key of keys) {
        for (const seen of watchers) seen.add(key)
        const count = (pins.get(key) ?? 0) + by
        if (count > 0) pins.set(key, count)
        else pins.delete(key)
      }
    })
  return {
    /** The keys that are in use now, and all that come into use, however briefly, until the scope closes. */
    watch: Effect.acquireRelease(
      Effect.sync((): ReadonlySet<string> => {
        const seen = new Set(pins.keys())
        watchers.add(seen)
        return seen
      }),
      (seen) => Effect.sync(() => watchers.delete(seen as Set<string>))
    ),
    /** Holds the keys until the scope closes. */
    pin: (keys: ReadonlyArray<string>) => Effect.acquireRelease(change(keys, 1), () => change(keys, -1))
  }
}
