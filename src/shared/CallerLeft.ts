import { Context, Effect } from "effect"

/**
 * Completes when the caller says that it has stopped waiting, though an answer can still be sent; never for callers whose going
 * interrupts what they asked for.
 */
export class CallerLeft extends Context.Reference<CallerLeft>()("shared/CallerLeft", {
  defaultValue: (): Effect.Effect<void> => Effect.never
}) {}

export const leavingBy = (signal: AbortSignal | undefined): Effect.Effect<void> =>
  signal === undefined ? Effect.never : Effect.async<void>((resume) => {
    const left = () => resume(Effect.void)
    if (signal.aborted) return left()
    signal.addEventListener("abort", left, { once: true })
    return Effect.sync(() => signal.removeEventListener("abort", left))
  })
