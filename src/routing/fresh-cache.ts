import { LRUCache } from "lru-cache"

export interface FreshCacheOptions<A> {
  /** Undefined: there is nothing under the key. */
  readonly load: (key: string) => Promise<A | undefined>
  /** How long what was loaded may be used, in milliseconds. */
  readonly lifetime: (value: A | undefined) => number
  readonly capacity: number
  /** Absent keys are counted apart, so that guessing names pushes nothing real out. */
  readonly absentCapacity: number
  /** Unix milliseconds. */
  readonly now: () => number
  /** When loading fails, or takes longer than `patience`, the last known value is used for `lifetime` more; both in ms. */
  readonly fallback: { readonly patience: number; readonly lifetime: number }
}

/** What is loaded, or the last known value when that fails or takes too long. */
const orLast = <A>(loading: Promise<A>, last: A, patience: number): Promise<A> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, patience, last)
    loading.then(resolve, () => resolve(last)).finally(() => clearTimeout(timer))
  })

/**
 * Values by key: loaded once for all who wait, used until their time is over or somebody drops them; after their time
 * only while nothing newer can be had. What was being loaded when it was dropped is handed to those who already
 * waited, and not kept: it may be from before the change.
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

  /** Only what is there and known. */
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
    const asked = load(key).then((value) => ({ value, lifetime: lifetime(value) }))
    const last = this.#present.get(key)
    const known = last === undefined
      ? asked
      : orLast(asked, { value: last.value, lifetime: fallback.lifetime }, fallback.patience)
    const loading: Promise<A | undefined> = known.then(({ lifetime, value }) => {
      if (this.#loading.get(key) === loading) this.#keep(key, value, lifetime)
      return value
    }).finally(() => {
      if (this.#loading.get(key) === loading) this.#loading.delete(key)
    })
    this.#loading.set(key, loading)
    return loading
  }

  /** It changed: what was known is wrong. */
  drop(key: string) {
    for (const map of [this.#present, this.#absent, this.#loading]) map.delete(key)
  }

  /** It, or everything, may have changed: what was known is used only when nothing newer can be had. */
  doubt(key?: string) {
    for (const name of key === undefined ? [...this.#present.keys()] : [key]) {
      const entry = this.#present.get(name)
      if (entry !== undefined) this.#present.set(name, { ...entry, until: 0 })
    }
    for (const map of [this.#absent, this.#loading]) {
      if (key === undefined) map.clear()
      else map.delete(key)
    }
  }

  /** Keys that are held, present and absent ones. */
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
