import { failedOnFullDisk } from "#src/shared/disk-full.ts"
import { isRejected } from "#src/shared/outage.ts"
import { Cause, Effect, Schedule } from "effect"

const pauses = Schedule.exponential("250 millis").pipe(Schedule.union(Schedule.spaced("3 seconds")))

/** A full disk is not retried: it stays full for longer than the retries last. */
const isRetryable = (cause: Cause.Cause<unknown>) =>
  Cause.isDie(cause) && !Cause.isInterrupted(cause) && !isRejected(cause) && !failedOnFullDisk(cause)

/**
 * Retries defects, which nearly always mean that the database is unreachable, for half a minute; `times` 60 makes it
 * about three minutes. The effect must be idempotent. What the database has refused is not retried.
 */
export const throughOutage = (times = 12) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.sandbox(effect).pipe(
    Effect.retry({ schedule: pauses, times, while: isRetryable }),
    Effect.unsandbox
  )
