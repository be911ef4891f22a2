interface Entry<Claims> {
  readonly claims: Claims
  readonly expiresAt: number
}

/** Claims of tokens that were verified, until they expire; the least recently used make room. Times are Unix ms. */
export class ClaimsCache<Claims> {
  readonly #entries = new Map<string, Entry<Claims>>()
  readonly #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get(token: string, now: number): Claims | undefined {
    const entry = this.#entries.get(token)
    if (entry === undefined) return undefined
    this.#entries.delete(token)
    if (now >= entry.expiresAt) return undefined
    // A Map keeps the order of insertion: what is put back last is thrown out last.
    this.#entries.set(token, entry)
    return entry.claims
  }

  put(token: string, claims: Claims, expiresAt: number) {
    this.#entries.delete(token)
    this.#entries.set(token, { claims, expiresAt })
    if (this.#entries.size <= this.#capacity) return
    for (const oldest of this.#entries.keys()) return void this.#entries.delete(oldest)
  }

  get size() {
    return this.#entries.size
  }
}
