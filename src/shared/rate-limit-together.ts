import { type Bucket, type Count } from "./rate-limit-store.ts"

/** How many of some requests fit into all buckets, and each bucket's count before them. */
export interface Counted {
  readonly granted: number
  readonly counts: ReadonlyArray<Count>
}

interface Waiting {
  readonly resolve: (counts: ReadonlyArray<Count>) => void
  readonly reject: (cause: unknown) => void
}

/**
 * Counts requests of the same buckets together: while one call is under way, the others wait for the next. A burst to
 * one account is a handful of calls then, and can't take so long that it passes for an outage.
 */
export const together = (count: (buckets: ReadonlyArray<Bucket>, requests: number) => Promise<Counted>) => {
  const queues = new Map<string, Array<Waiting>>()

  const answer = ({ counts, granted }: Counted, waiting: ReadonlyArray<Waiting>) => {
    for (const [at, { resolve }] of waiting.entries()) {
      // Those beyond what fits are not counted: each is the next one after it.
      const before = Math.min(at, granted)
      resolve(counts.map(({ count, millisLeft }) => ({ count: count + before + 1, millisLeft })))
    }
  }

  const work = async (id: string, buckets: ReadonlyArray<Bucket>, queue: Array<Waiting>) => {
    // Those that come in the same turn of the loop go with the first.
    await Promise.resolve()
    while (queue.length > 0) {
      const waiting = queue.splice(0)
      try {
        answer(await count(buckets, waiting.length), waiting)
      } catch (cause) {
        for (const { reject } of waiting) reject(cause)
      }
    }
    queues.delete(id)
  }

  return (buckets: ReadonlyArray<Bucket>) =>
    new Promise<ReadonlyArray<Count>>((resolve, reject) => {
      const id = JSON.stringify(buckets.map(({ key, limit, windowMillis }) => [key, limit, windowMillis]))
      const queue = queues.get(id)
      if (queue !== undefined) return void queue.push({ resolve, reject })
      const first = [{ resolve, reject }]
      queues.set(id, first)
      void work(id, buckets, first)
    })
}
