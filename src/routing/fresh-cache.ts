import { LRUCache } from "lru-cache"

export interface FreshCacheOptions<A> {
  /** Undefined: the key has no value. */
  readonly load: (key: string) => Promise<A | undefined>
  /** How long a loaded value may be used, in milliseconds. */
  readonly lifetime: (value: A | undefined) => number
  readonly capacity: number
  /** Absent keys have their own capacity, so that guessed names evict no real entry. */
  readonly absentCapacity: number
  /** Unix milliseconds. */
  readonly now: () => number
  /** When loading fails, or takes longer than `timeout`, the last value is used for `lifetime` more; both in ms. */
  readonly fallback: { readonly timeout: number; readonly lifetime: number }
}

/** The loaded value, or the last one when loading fails or takes too long. */
const orLast = <A>(loading: Promise<A>, last: A, timeout: number): Promise<A> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, timeout, last)
    loading.then(resolve, () => resolve(last)).finally(() => clearTimeout(timer))
  })

/**
 * Values by key, loaded once for all concurrent callers, used until they expire or are dropped; after that only while
 * loading fails. A value that is being loaded while its key is dropped goes to the callers that already wait, and is
 * not cached: it may be older than the change.
 */
export class FreshCache<A> {
  readonly #present: LRUCache<string, { readonly value: A; readonly until: number }>
  readonly #absent: LRUCache<string, number>
  readonly #loading = new Map<string, Promise<A | undefined>>()
  readonly #options: FreshCacheOptions<A>

  constructor(options: FreshCacheOptions<A>) {
    this.#options = options
    this.#present = new LRUCache({ max: options.capacity })
    this.#absent = new LRUCache({ max: options.absentCapacity })
  }

  /** Only a present, fresh value; loads nothing. */
  peek(key: string): A | undefined {
    const entry = this.#present.peek(key)
    return entry !== undefined && this.#options.now() < entry.until ? entry.value : undefined
  }

  get(key: string): Promise<A | undefined> {
    const value = this.peek(key)
    if (value !== undefined || this.#options.now() < (this.#absent.peek(key) ?? 0)) return Promise.resolve(value)
    const waiting = this.#loading.get(key)
    if (waiting !== undefined) return waiting
    const { fallback, lifetime, load } = this.#options
    const loaded = load(key).then((value) => ({ value, lifetime: lifetime(value) }))
    const last = this.#present.get(key)
    const result = last === undefined
      ? loaded
      : orLast(loaded, { value: last.value, lifetime: fallback.lifetime }, fallback.timeout)
    const loading: Promise<A | undefined> = result.then(({ lifetime, value }) => {
      if (this.#loading.get(key) === loading) this.#keep(key, value, lifetime)
      return value
    }).finally(() => {
      if (this.#loading.get(key) === loading) this.#loading.delete(key)
    })
    this.#loading.set(key, loading)
    return loading
  }

  /** The value changed: evicts it. */
  drop(key: string) {
    for (const map of [this.#present, this.#absent, this.#loading]) map.delete(key)
  }

  /** The value, or every value, may have changed: it is used only when loading fails. */
  expire(key?: string) {
    for (const name of key === undefined ? [...this.#present.keys()] : [key]) {
      const entry = this.#present.get(name)
      if (entry !== undefined) this.#present.set(name, { ...entry, until: 0 })
    }
    for (const map of [this.#absent, this.#loading]) {
      if (key === undefined) map.clear()
      else map.delete(key)
    }
  }

  /** Numbers of cached keys. */
  get sizes() {
    return { present: this.#present.size, absent: this.#absent.size }
  }

  #keep(key: string, value: A | undefined, lifetime: number) {
    const until = this.#options.now() + lifetime
    this.#present.delete(key)
    this.#absent.delete(key)
    if (value === undefined) this.#absent.set(key, until)
    else this.#present.set(key, { value, until })
  }
}
