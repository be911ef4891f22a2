import { failedOfFullDisk } from "#src/shared/disk-full.ts"
import { isRefused } from "#src/shared/outage.ts"
import { Cause, Effect, Schedule } from "effect"

const pauses = Schedule.exponential("250 millis").pipe(Schedule.union(Schedule.spaced("3 seconds")))

/** A disk that is full stays so for longer than anybody waits. */
const mayPass = (cause: Cause.Cause<unknown>) =>
  Cause.isDie(cause) && !Cause.isInterrupted(cause) && !isRefused(cause) && !failedOfFullDisk(cause)

/**
 * A defect here is the database being away, nearly always. What can be done again is done again, for half a minute;
 * `times` 60 makes it about three. What the database refused stays refused.
 */
export const throughOutage = (times = 12) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.sandbox(effect).pipe(
    Effect.retry({ schedule: pauses, times, while: mayPass }),
    Effect.unsandbox
  )
