import { type Entry, InFlight } from "#http/connection/in-flight.ts"
import { Effect } from "effect"

/** Requests under way, each by the function that cuts it, and the end of them all. */
export const makeInFlight = () => {
  const cuts = new InFlight<() => void>()
  let draining = false
  let onIdle = () => {}
  return {
    isDraining: () => draining,
    begin: (cut: () => void) => cuts.add(cut),
    end: (entry: Entry<() => void>) => {
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
          for (const { value: cut } of cuts.entries()) cut()
        }))
      )
  } as const
}
export type RequestsInFlight = ReturnType<typeof makeInFlight>
