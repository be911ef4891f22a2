import { Clock, Effect } from "effect"

/** The time of the `Clock` service, which a test can set. */
export const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
