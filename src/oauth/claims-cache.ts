import { LRUCache } from "lru-cache"

interface Entry<Claims> {
  readonly claims: Claims
  readonly expiresAt: number
}

/** LRU cache of verified tokens' claims, until they expire. Times are in Unix milliseconds. */
export class ClaimsCache<Claims> {
  readonly #entries: LRUCache<string, Entry<Claims>>

  constructor(capacity: number) {
    this.#entries = new LRUCache({ max: capacity })
  }

  get(token: string, now: number): Claims | undefined {
    const entry = this.#entries.get(token)
    if (entry === undefined || now < entry.expiresAt) return entry?.claims
    this.#entries.delete(token)
    return undefined
  }

  put(token: string, claims: Claims, expiresAt: number) {
    this.#entries.set(token, { claims, expiresAt })
  }

  get size() {
    return this.#entries.size
  }
}
