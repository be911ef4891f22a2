interface Entry<Claims> {
  readonly claims: Claims
  readonly expiresAt: number
}

/**
 * Cache of verified tokens' claims, until they expire. Times are in Unix milliseconds. It has two generations: when the
 * young one is full, the old one is forgotten, and takes its place. What is used goes to the young one. To find a token
 * takes one look into one map, and changes nothing.
 */
export class ClaimsCache<Claims> {
  readonly #half: number
  #young = new Map<string, Entry<Claims>>()
  #old = new Map<string, Entry<Claims>>()

  constructor(capacity: number) {
    this.#half = Math.max(1, Math.floor(capacity / 2))
  }

  get(token: string, now: number): Claims | undefined {
    const young = this.#young.get(token)
    const entry = young ?? this.#old.get(token)
    if (entry === undefined) return undefined
    if (now >= entry.expiresAt) {
      this.#young.delete(token)
      this.#old.delete(token)
      return undefined
    }
    if (young === undefined) this.#keep(token, entry)
    return entry.claims
  }

  put(token: string, claims: Claims, expiresAt: number) {
    this.#old.delete(token)
    this.#keep(token, { claims, expiresAt })
  }

  get size() {
    return this.#young.size + this.#old.size
  }

  #keep(token: string, entry: Entry<Claims>) {
    if (this.#young.size >= this.#half && !this.#young.has(token)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(token, entry)
  }
}
