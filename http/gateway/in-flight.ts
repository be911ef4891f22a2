import { type Entry, InFlight } from "#http/connection/in-flight.ts"
import { Effect } from "effect"

/** What ends a request that is under way. */
export interface Cut {
  readonly cut: () => void
}

/** Requests under way, each by what cuts it, and the end of them all. */
export const makeInFlight = () => {
  const cuts = new InFlight<Cut>()
  let draining = false
  let onIdle = () => {}
  return {
    isDraining: () => draining,
    /** Nothing else is under way. */
    isAlone: () => cuts.size <= 1,
    begin: (cut: Cut) => cuts.add(cut),
    end: (entry: Entry<Cut>) => {
      cuts.delete(entry)
      if (cuts.size === 0) onIdle()
    },
    /** Waits for those under way, and after that many milliseconds cuts the rest. */
    drain: (milliseconds: number) =>
      Effect.async<void>((resume) => {
        draining = true
        onIdle = () => resume(Effect.void)
        if (cuts.size === 0) onIdle()
      }).pipe(
        // It runs while a scope closes, which is uninterruptible by default.
        Effect.interruptible,
        Effect.timeoutOption(milliseconds),
        Effect.zipRight(Effect.sync(() => {
          for (const { value } of cuts.entries()) value.cut()
        }))
      )
  } as const
}
export type RequestsInFlight = ReturnType<typeof makeInFlight>
