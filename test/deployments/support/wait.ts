import { Effect, Schedule } from "effect"
import { setTimeout } from "node:timers/promises"

/** Looks every 50 ms until it holds; a test's own time limit ends what never does. */
export const until = <A, E, R>(effect: Effect.Effect<A, E, R>, holds: (value: A) => boolean) =>
  Effect.repeat(effect, { until: holds, schedule: Schedule.spaced("50 millis") }).pipe(Effect.zipRight(effect))

/** The same where no effect runs. */
export const untilTrue = async (holds: () => boolean | Promise<boolean>) => {
  while (!(await holds())) await setTimeout(50)
}
