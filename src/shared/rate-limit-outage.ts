interface OutageOptions {
  /** Called once when it is lost, and not at every failure. */
  readonly lost: (error: unknown) => void
  readonly back: () => void
}

/** After a failure nothing is asked for this long; then one caller tries, and the others fail meanwhile. */
const pause = 1_000

/**
 * What may be away. A server that hangs is as lost as one that can't be reached, but costs each caller the whole timeout:
 * therefore callers do not wait for it one after the other.
 */
export const makeOutage = ({ back, lost }: OutageOptions) => {
  let away = false
  let triedAt = 0
  let probing = false

  const failed = (error: unknown) => {
    triedAt = Date.now()
    if (!away) lost(error)
    away = true
  }
  const worked = () => {
    if (away) back()
    away = false
  }

  return {
    failed,
    worked,
    /** Asks, unless it is known to be away. */
    ask: async <A>(work: () => Promise<A>) => {
      const probe = away
      if (probe && (probing || Date.now() - triedAt < pause)) throw new Error("It did not answer just now")
      if (probe) probing = true
      try {
        const answer = await work()
        worked()
        return answer
      } catch (error) {
        failed(error)
        throw error
      } finally {
        if (probe) probing = false
      }
    }
  } as const
}
