/** What is known of a machine's answers since it was started. Times are Unix milliseconds. */
export interface Liveness {
  readonly startedAt: number
  /** When it is asked next. */
  readonly nextAt: number
  /** Probes without an answer, in a row. */
  readonly silent: number
  /** Since when it answers; undefined: it does not, or was not asked yet. */
  readonly answersSince: number | undefined
}

/** Probes in a row without any answer after which a machine counts as dead: one may meet a busy moment. */
export const mostSilent = 3

const pause = 3_000
const jitter = 1_000

/** `random` is from 0 to 1: machines that were started together are not asked together. */
export const watchedFrom = (now: number, random: number): Liveness => ({
  startedAt: now,
  nextAt: now + pause + random * jitter,
  silent: 0,
  answersSince: undefined
})

export interface Circumstances {
  readonly healthTimeoutSeconds: number
  readonly random: number
  /** Whether its health check still waits for it: one that has passed it has answered. */
  readonly isAwaited: boolean
}

/**
 * After a probe. A machine that has never answered has the time of its health check to begin with, and is not dead
 * before that.
 */
export const probed = (
  before: Liveness,
  isAnswer: boolean,
  now: number,
  { healthTimeoutSeconds, isAwaited, random }: Circumstances
): Liveness => {
  const begins = isAwaited && before.answersSince === undefined && before.silent === 0 &&
    now - before.startedAt < healthTimeoutSeconds * 1000
  return {
    ...before,
    nextAt: now + pause + random * jitter,
    silent: isAnswer || begins ? 0 : before.silent + 1,
    answersSince: isAnswer ? before.answersSince ?? now : undefined
  }
}

export const isDead = ({ silent }: Liveness) => silent >= mostSilent

/** Whether it is asked a last time, and nobody is sent there meanwhile. */
export const isDoubtful = ({ silent }: Liveness) => silent === mostSilent - 1
