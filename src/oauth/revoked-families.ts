/** Revoked token families, kept as long as an access token of theirs may still be valid. */
export class RevokedFamilies {
  readonly #until = new Map<string, number>()
  readonly #lifetime: number

  /** `lifetime` of an access token, in milliseconds. */
  constructor(lifetime: number) {
    this.#lifetime = lifetime
  }

  /** `now` in Unix milliseconds. */
  add(familyId: string, now: number) {
    this.#until.delete(familyId)
    this.#until.set(familyId, now + this.#lifetime)
    // A Map keeps the order of insertion, which is the order of expiry here.
    for (const [id, until] of this.#until) {
      if (until > now) return
      this.#until.delete(id)
    }
  }

  has(familyId: string | undefined) {
    return familyId !== undefined && this.#until.has(familyId)
  }

  get size() {
    return this.#until.size
  }
}
