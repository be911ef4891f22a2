/** The restart state of one deployment's machine, since this process watches it. Times are Unix milliseconds. */
export interface Watched {
  /** Crashes without a minute of running between them. */
  readonly crashes: number
  /** When it may be started again. */
  readonly notBefore: number
  /** When it was last seen to start. */
  readonly startedAt: number
  /** It is tried rarely, until it has run for a minute or somebody starts it. */
  readonly givenUp: boolean
  /** Whether its last start was such a try. */
  readonly tried: boolean
}

export type Decision =
  | { readonly _tag: "Wait" }
  | { readonly _tag: "Start"; readonly attempt: number }
  | { readonly _tag: "Try" }
  | { readonly _tag: "GiveUp" }

export const attempts = 5
const settledAfter = 60_000
export const longestPause = 30_000
/** Between two starts of one that was given up: what it needs may be back. */
export const rarePause = 10 * 60_000

/** Milliseconds before the next attempt after so many failures in a row, where the first is not followed by one at once. */
export const pauseAfter = (crashes: number) => Math.min(longestPause, 1_000 * 2 ** (crashes - 1))

const initial = (now: number): Watched => ({ crashes: 0, notBefore: 0, startedAt: now, givenUp: false, tried: false })

/** The platform has no disk space to start the machine: retried after the longest pause, without counting a crash. */
export const waitingForRoom = (now: number): Watched => ({ ...initial(now), notBefore: now + longestPause })

/** The machine runs. After a minute of running its crashes are cleared, unless it is silent. */
export const seenRunning = (watched: Watched | undefined, now: number, isSilent = false): Watched => {
  if (watched === undefined || watched.givenUp && !watched.tried) return initial(now)
  return !isSilent && now - watched.startedAt >= settledAfter
    ? { ...watched, crashes: 0, givenUp: false, tried: false }
    : watched
}

/**
 * The machine should run and doesn't. When this process sees it for the first time, it stopped with the platform, and
 * is started without counting a crash. After its first crash it is started at once. One that was silent until it ended had not settled, however long it ran.
 */
export const seenDown = (
  watched: Watched | undefined,
  now: number,
  wasSilent = false
): readonly [Watched, Decision] => {
  if (watched === undefined) {
    return [initial(now), { _tag: "Start", attempt: 0 }]
  }
  const givenUp = { ...watched, givenUp: true, tried: false, notBefore: now + rarePause }
  if (watched.tried) return [givenUp, { _tag: "GiveUp" }]
  if (watched.notBefore > now) return [watched, { _tag: "Wait" }]
  if (watched.givenUp) return [{ ...watched, tried: true, startedAt: now }, { _tag: "Try" }]
  if (watched.notBefore > 0) {
    return [{ ...watched, notBefore: 0, startedAt: now }, { _tag: "Start", attempt: watched.crashes }]
  }
  const hadSettled = !wasSilent && now - watched.startedAt >= settledAfter
  const crashes = (hadSettled ? 0 : watched.crashes) + 1
  if (crashes > attempts) return [{ ...givenUp, crashes }, { _tag: "GiveUp" }]
  return crashes === 1
    ? [{ ...watched, crashes, startedAt: now }, { _tag: "Start", attempt: 1 }]
    : [{ ...watched, crashes, notBefore: now + pauseAfter(crashes - 1) }, { _tag: "Wait" }]
}
