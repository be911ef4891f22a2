import { Effect } from "effect"

/** Reference counts of digests in use, which a collection must keep. */
export const makePins = () => {
  const pins = new Map<string, number>()
  const watchers = new Set<Set<string>>()
  const change = (keys: ReadonlyArray<string>, by: number) =>
    Effect.sync(() => {
      for (const key of keys) {
        for (const used of watchers) used.add(key)
        const count = (pins.get(key) ?? 0) + by
        if (count > 0) pins.set(key, count)
        else pins.delete(key)
      }
    })
  return {
    /** The keys in use now, and all that come into use, even briefly, until the scope closes. */
    watch: Effect.acquireRelease(
      Effect.sync((): ReadonlySet<string> => {
        const used = new Set(pins.keys())
        watchers.add(used)
        return used
      }),
      (used) => Effect.sync(() => watchers.delete(used as Set<string>))
    ),
    /** Marks the keys as in use until the scope closes. */
    pin: (keys: ReadonlyArray<string>) => Effect.acquireRelease(change(keys, 1), () => change(keys, -1))
  }
}
