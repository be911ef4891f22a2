/**
 * What is under way: a set whose entries come and go thousands of times a second. A `Set` or `Map` would discard its
 * table every few dozens of them, and each table leads to the next: one that reached the old generation keeps all later
 * ones, with what was in them, from being collected as young.
 */
export class InFlight<A> {
  readonly #entries: Array<Entry<A>> = []

  get size() {
    return this.#entries.length
  }

  add(value: A): Entry<A> {
    const entry = { value, at: this.#entries.length }
    this.#entries.push(entry)
    return entry
  }

  /** Nothing happens when it was deleted before. */
  delete(entry: Entry<A>) {
    if (this.#entries[entry.at] !== entry) return
    const last = this.#entries.pop()!
    if (last !== entry) {
      this.#entries[entry.at] = last
      last.at = entry.at
    }
    entry.at = -1
  }

  /** A copy: entries may be deleted while it is read. */
  entries(): ReadonlyArray<Entry<A>> {
    return [...this.#entries]
  }
}

export interface Entry<A> {
  readonly value: A
  at: number
}
