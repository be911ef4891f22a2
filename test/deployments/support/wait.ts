import { Effect, Schedule } from "effect"

/** Looks every 50 ms until it holds; a test's own time limit ends what never does. */
export const until = <A, E, R>(effect: Effect.Effect<A, E, R>, holds: (value: A) => boolean) =>
  Effect.repeat(effect, { until: holds, schedule: Schedule.spaced("50 millis") }).pipe(Effect.zipRight(effect))
