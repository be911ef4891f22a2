/** The restart state of one deployment's machine, since this process watches it. Times are Unix milliseconds. */
export interface Watched {
  /** Crashes without a minute of running between them. */
  readonly crashes: number
  /** When it may be started again. */
  readonly notBefore: number
  /** When it was last seen to start. */
  readonly startedAt: number
  /** No more attempts until it runs again because somebody started it. */
  readonly givenUp: boolean
}

export type Decision =
  | { readonly _tag: "Wait" }
  | { readonly _tag: "Start"; readonly attempt: number }
  | { readonly _tag: "GiveUp" }

export const attempts = 5
const settledAfter = 60_000
const longestPause = 30_000

const pauseAfter = (crashes: number) => Math.min(longestPause, 1_000 * 2 ** (crashes - 1))

const initial = (now: number): Watched => ({ crashes: 0, notBefore: 0, startedAt: now, givenUp: false })

/** The platform has no disk space to start the machine: retried after the longest pause, without counting a crash. */
export const waitingForRoom = (now: number): Watched => ({ ...initial(now), notBefore: now + longestPause })

/** The machine runs. After a minute of running its crashes are cleared. */
export const seenRunning = (watched: Watched | undefined, now: number): Watched => {
  if (watched === undefined || watched.givenUp) return initial(now)
  return now - watched.startedAt >= settledAfter ? { ...watched, crashes: 0 } : watched
}

/**
 * The machine should run and doesn't. When this process sees it for the first time, it stopped with the platform, and
 * is started without counting a crash.
 */
export const seenDown = (watched: Watched | undefined, now: number): readonly [Watched, Decision] => {
  if (watched === undefined) {
    return [initial(now), { _tag: "Start", attempt: 0 }]
  }
  if (watched.givenUp) return [watched, { _tag: "Wait" }]
  if (watched.notBefore > now) return [watched, { _tag: "Wait" }]
  if (watched.notBefore > 0) {
    return [{ ...watched, notBefore: 0, startedAt: now }, { _tag: "Start", attempt: watched.crashes }]
  }
  const crashes = (now - watched.startedAt >= settledAfter ? 0 : watched.crashes) + 1
  return crashes > attempts
    ? [{ ...watched, crashes, givenUp: true }, { _tag: "GiveUp" }]
    : [{ ...watched, crashes, notBefore: now + pauseAfter(crashes) }, { _tag: "Wait" }]
}
