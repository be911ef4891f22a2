import { Duration } from "effect"

/** How many failed log-ins for one e-mail address, from all addresses together, are allowed in a day. */
export const mostFailures = 100
/** Milliseconds in which the count falls by one. */
export const decayInterval = Duration.toMillis("24 hours") / mostFailures
/** Beyond `mostFailures`, one attempt is allowed in this time. */
const pause = Duration.toMillis("1 minute")

/** The failures of an e-mail address: a count that decays with time, and when it was last increased. */
export interface Tally {
  readonly failures: number
  readonly countedAt: Date
}

/** The decayed count at a time: it falls from `mostFailures` to 0 in a day. */
export const failuresAt = ({ countedAt, failures }: Tally, at: Date) =>
  Math.max(0, failures - Math.max(0, at.getTime() - countedAt.getTime()) / decayInterval)

/** When the next attempt may be made; undefined when it may be made now. */
export const retryAt = (tally: Tally, at: Date): Date | undefined => {
  if (failuresAt(tally, at) <= mostFailures - 1) return undefined
  const next = new Date(tally.countedAt.getTime() + pause)
  return next > at ? next : undefined
}

/** The tally with one more attempt, at most `mostFailures`, which decays in a day. */
export const withFailure = (tally: Tally | undefined, at: Date): Tally => ({
  failures: Math.min(mostFailures, (tally === undefined ? 0 : failuresAt(tally, at)) + 1),
  countedAt: at
})
