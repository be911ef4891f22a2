import { LRUCache } from "lru-cache"

/** After so many failures in a row a member is not asked. */
const failuresAllowed = 3
/** Milliseconds until one call tries it again. */
const restMillis = 30_000

interface State {
  readonly failures: number
  /** Unix milliseconds; 0: it is asked. */
  readonly restsUntil: number
}

const fine: State = { failures: 0, restsUntil: 0 }

/**
 * Which members are not asked because they failed lately. Each account has its own: nobody closes a member to others by
 * calls that fail.
 */
export class Breaker {
  readonly #states = new LRUCache<string, State>({ max: 10_000 })

  /** Seconds until the member is asked again; 0: now, and if it rested, by this call alone. */
  wait(key: string, now: number): number {
    const { failures } = this.#states.get(key) ?? fine
    const rest = this.rest(key, now)
    if (rest === 0 && failures >= failuresAllowed) this.#states.set(key, { failures, restsUntil: now + restMillis })
    return rest
  }

  /** Seconds that the member still rests; asking changes nothing. */
  rest(key: string, now: number): number {
    const { failures, restsUntil } = this.#states.get(key) ?? fine
    return failures < failuresAllowed || now >= restsUntil ? 0 : Math.ceil((restsUntil - now) / 1000)
  }

  failed(key: string, now: number) {
    const failures = (this.#states.get(key) ?? fine).failures + 1
    this.#states.set(key, { failures, restsUntil: failures < failuresAllowed ? 0 : now + restMillis })
  }

  worked(key: string) {
    this.#states.delete(key)
  }
}
