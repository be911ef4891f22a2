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
}

/** Puts a key last; the first one goes when there are too many (a Map keeps the order of insertion). */
const keep = <A>(map: Map<string, A>, key: string, value: A, capacity: number) => {
  map.delete(key)
  map.set(key, value)
  if (map.size <= capacity) return
  for (const oldest of map.keys()) return void map.delete(oldest)
}

/**
 * Values by key: loaded once for all who wait, used until their time is over or somebody drops them. What was being
 * loaded when it was dropped is handed to those who already waited, and not kept: it may be from before the change.
 */
export class FreshCache<A> {
  readonly #present = new Map<string, { readonly value: A; readonly until: number }>()
  readonly #absent = new Map<string, number>()
  readonly #loading = new Map<string, Promise<A | undefined>>()
  readonly #options: FreshCacheOptions<A>

  constructor(options: FreshCacheOptions<A>) {
    this.#options = options
  }

  /** Only what is there and known. */
  peek(key: string): A | undefined {
    const entry = this.#present.get(key)
    return entry !== undefined && this.#options.now() < entry.until ? entry.value : undefined
  }

  get(key: string): Promise<A | undefined> {
    const value = this.peek(key)
    if (value !== undefined || this.#options.now() < (this.#absent.get(key) ?? 0)) return Promise.resolve(value)
    const waiting = this.#loading.get(key)
    if (waiting !== undefined) return waiting
    const loading: Promise<A | undefined> = this.#options.load(key).then((value) => {
      if (this.#loading.get(key) === loading) this.#keep(key, value)
      return value
    }).finally(() => {
      if (this.#loading.get(key) === loading) this.#loading.delete(key)
    })
    this.#loading.set(key, loading)
    return loading
  }

  drop(key: string) {
    for (const map of [this.#present, this.#absent, this.#loading]) map.delete(key)
  }

  clear() {
    for (const map of [this.#present, this.#absent, this.#loading]) map.clear()
  }

  /** Keys that are held, present and absent ones. */
  get sizes() {
    return { present: this.#present.size, absent: this.#absent.size }
  }

  #keep(key: string, value: A | undefined) {
    const { absentCapacity, capacity, lifetime, now } = this.#options
    const until = now() + lifetime(value)
    this.#present.delete(key)
    this.#absent.delete(key)
    if (value === undefined) keep(this.#absent, key, until, absentCapacity)
    else keep(this.#present, key, { value, until }, capacity)
  }
}
