import { Clock, Effect } from "effect"

/** The time by the `Clock` service, which a test can move. */
export const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))
