import { type Entry, InFlight } from "#http/connection/in-flight.ts"
import { Effect } from "effect"

/** How often those under way are looked at, in milliseconds: cheaper than timers of each. */
const tickMillis = 250

/** A request that is under way. */
export interface UnderWay {
  /** Ends it. */
  readonly cut: () => void
  /** Called several times a second; `now`: `performance.now()`. */
  readonly tick?: (now: number) => void
}

/** Requests under way, and the end of them all. */
export const makeInFlight = () => {
  const all = new InFlight<UnderWay>()
  let draining = false
  let onIdle = () => {}
  let ticking: NodeJS.Timeout | undefined
  const tick = () => {
    const now = performance.now()
    for (const { value } of all.entries()) value.tick?.(now)
    if (all.size > 0) return
    clearInterval(ticking)
    ticking = undefined
  }
  return {
    isDraining: () => draining,
    /** Nothing else is under way. */
    isAlone: () => all.size <= 1,
    get size() {
      return all.size
    },
    begin: (one: UnderWay) => {
      ticking ??= setInterval(tick, tickMillis).unref()
      return all.add(one)
    },
    end: (entry: Entry<UnderWay>) => {
      all.delete(entry)
      if (all.size === 0) onIdle()
    },
    /** Waits for those under way, and after that many milliseconds cuts the rest. */
    drain: (milliseconds: number) =>
      Effect.async<void>((resume) => {
        draining = true
        onIdle = () => resume(Effect.void)
        if (all.size === 0) onIdle()
      }).pipe(
        // It runs while a scope closes, which is uninterruptible by default.
        Effect.interruptible,
        Effect.timeoutOption(milliseconds),
        Effect.zipRight(Effect.sync(() => {
          for (const { value } of all.entries()) value.cut()
        }))
      )
  } as const
}
export type RequestsInFlight = ReturnType<typeof makeInFlight>
