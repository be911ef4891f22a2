import { Array, type Duration, Effect, Metric, Queue } from "effect"
import { Jobs } from "./Jobs.ts"

const waiting = Metric.gauge("berth.write_behind.waiting", {
  description: "Rows that wait to be written, by what they count"
})
const lost = Metric.counter("berth.write_behind.dropped", {
  description: "Counts that were dropped because too many rows waited, by what they count",
  incremental: true
})

interface CountersOptions<Row, Name, Written, E> {
  /** What the rows count, for the log. */
  readonly what: string
  readonly names: ReadonlyArray<Name>
  /** Maximum of waiting rows; counts beyond are dropped, and their number is logged and measured. */
  readonly capacity: number
  /** Rows per write. */
  readonly batch: number
  /** Called synchronously when as many rows wait as one write takes. */
  readonly full?: () => void
  readonly write: (rows: ReadonlyArray<Row>) => Effect.Effect<Written, E>
  /** Called synchronously with the removal of written counts from memory. */
  readonly written?: (result: Written) => void
}

/**
 * Counts in memory, by row, until they are added to the database. Counts stay in memory until their write has
 * succeeded, so that a failed write loses nothing and a reader never sees a count fall.
 */
export const makeCounters = <Row extends Record<Name, number>, Name extends string, Written, E>(
  { batch, capacity, full, names, what, write, written }: CountersOptions<Row, Name, Written, E>
) => {
  const rows = new Map<string, Row>()
  const single = Effect.unsafeMakeSemaphore(1)
  const [waitingNow, lostNow] = [Metric.tagged(waiting, "what", what), Metric.tagged(lost, "what", what)]
  let dropped = 0

  /** The id's row, to add counts to at once; undefined: there is no room for it, and `by` counts are lost. */
  const rowOf = (id: string, make: () => Row, by = 1): Record<Name, number> | undefined => {
    let row = rows.get(id)
    if (row === undefined) {
      if (rows.size >= capacity) {
        dropped += by
        lostNow.unsafeUpdate(by, [])
        return undefined
      }
      rows.set(id, row = make())
      if (rows.size === batch) full?.()
    }
    return row
  }

  const add = (id: string, make: () => Row, name: Name, by = 1) => {
    const row = rowOf(id, make, by)
    if (row !== undefined) row[name] += by
  }

  const subtract = (id: string, counts: Record<Name, number>, amounts: Row) => {
    for (const name of names) counts[name] -= amounts[name]
    if (names.every((name) => counts[name] === 0)) rows.delete(id)
  }

  const writeSome = (due: ReadonlyArray<readonly [id: string, row: Row]>) =>
    Effect.uninterruptible(Effect.suspend(() => {
      const parts = due.map(([id, row]) => ({ id, row, amounts: { ...row } }))
      return Effect.map(write(parts.map(({ amounts }) => amounts)), (result) => {
        for (const { amounts, id, row } of parts) subtract(id, row, amounts)
        written?.(result)
      })
    }))

  const logDropped = Effect.suspend(() => {
    const count = dropped
    dropped = 0
    return count === 0 ? Effect.void : Effect.logWarning(`${count} ${what} were dropped: too many wait to be written`)
  })

  return {
    /** `make` returns the id's row with all counts 0. */
    add,
    rowOf,
    /** The counts that are not in the database yet; undefined when there are none. */
    get: (id: string): Readonly<Row> | undefined => rows.get(id),
    /** The number of waiting rows. */
    size: () => rows.size,
    /** Writes all waiting rows. Serialised. */
    flush: single.withPermits(1)(
      Effect.suspend(() => Effect.forEach(Array.chunksOf(rows, batch), writeSome, { discard: true }))
    ).pipe(Effect.ensuring(logDropped), Effect.ensuring(Effect.suspend(() => Metric.set(waitingNow, rows.size))))
  } as const
}

/**
 * The same, flushed by a job of that name, as soon as a whole batch waits, and at the end of the scope. A crash loses the
 * counts of one interval.
 */
export const writeBehind = Effect.fnUntraced(
  function*<Row extends Record<Name, number>, Name extends string, Written, E>(
    job: string,
    interval: Duration.DurationInput,
    options: Omit<CountersOptions<Row, Name, Written, E>, "full">
  ) {
    const jobs = yield* Jobs
    const batchWaits = yield* Queue.sliding<void>(1)
    const counters = makeCounters({ ...options, full: () => void batchWaits.unsafeOffer(undefined) })
    const flush = Effect.catchAllCause(
      counters.flush,
      (cause) => Effect.logWarning(`${job} failed and is tried again`, cause)
    )
    // The shutdown must complete without the database, too.
    yield* Effect.addFinalizer(() => Effect.timeoutOption(Effect.disconnect(flush), "5 seconds"))
    yield* jobs.every(job, interval, counters.flush)
    // After a failure the job tries again, at its pace.
    const flushBatches: Effect.Effect<void, E> = Effect.suspend(() =>
      counters.size() < options.batch ? Effect.void : Effect.zipRight(counters.flush, flushBatches)
    )
    const onFull = Effect.catchAllCause(
      flushBatches,
      (cause) => Effect.logWarning(`${job} failed and is tried again`, cause)
    )
    yield* Effect.forkScoped(Effect.forever(Effect.zipRight(Queue.take(batchWaits), onFull)))
    return { ...counters, flush }
  }
)
