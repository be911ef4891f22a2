import { Duration } from "effect"

/** Failed log-ins for one e-mail address, from wherever they came; as many as this in a day are let pass. */
export const mostFailures = 100
/** Milliseconds after which one of them no longer counts. */
export const forgivenEvery = Duration.toMillis("24 hours") / mostFailures
/** Beyond them, one attempt may be made in so long. */
const pause = Duration.toMillis("1 minute")

/** What is remembered of an e-mail address: a count that runs down with time, and when it was last added to. */
export interface Tally {
  readonly failures: number
  readonly countedAt: Date
}

/** The count as it is at a time: it falls from `mostFailures` to nothing in a day. */
export const failuresAt = ({ countedAt, failures }: Tally, at: Date) =>
  Math.max(0, failures - Math.max(0, at.getTime() - countedAt.getTime()) / forgivenEvery)

/** When the next attempt may be made; undefined when it may be made now. */
export const waitsUntil = (tally: Tally, at: Date): Date | undefined => {
  if (failuresAt(tally, at) <= mostFailures - 1) return undefined
  const next = new Date(tally.countedAt.getTime() + pause)
  return next > at ? next : undefined
}

/** The tally with one more attempt; it never grows beyond what a day forgives. */
export const counted = (tally: Tally | undefined, at: Date): Tally => ({
  failures: Math.min(mostFailures, (tally === undefined ? 0 : failuresAt(tally, at)) + 1),
  countedAt: at
})
