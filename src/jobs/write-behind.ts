import { Array, type Duration, Effect } from "effect"
import { Jobs } from "./Jobs.ts"

interface CountersOptions<Row, Name, Written, E> {
  /** What is counted, for the log. */
  readonly what: string
  readonly names: ReadonlyArray<Name>
  /** So many rows wait at most; what comes beyond is dropped, and the log says how much. */
  readonly capacity: number
  /** Rows in one write. */
  readonly batch: number
  readonly write: (rows: ReadonlyArray<Row>) => Effect.Effect<Written, E>
  /** Hears of what was written at the very moment from which it is no longer counted here. */
  readonly written?: (result: Written) => void
}

/**
 * Counts in memory that are to be added up in the database, in rows of it. What is being written counts on until it is
 * there, so that a write that fails loses nothing, and nobody who reads sees a count fall.
 */
export const makeCounters = <Row extends Record<Name, number>, Name extends string, Written, E>(
  { batch, capacity, names, what, write, written }: CountersOptions<Row, Name, Written, E>
) => {
  const rows = new Map<string, Row>()
  const single = Effect.unsafeMakeSemaphore(1)
  let dropped = 0

  const add = (id: string, make: () => Row, name: Name, by = 1) => {
    let row = rows.get(id)
    if (row === undefined) {
      if (rows.size >= capacity) return void (dropped += by)
      rows.set(id, row = make())
    }
    const counts: Record<Name, number> = row
    counts[name] += by
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

  const tellDropped = Effect.suspend(() => {
    const lost = dropped
    dropped = 0
    return lost === 0 ? Effect.void : Effect.logWarning(`${lost} ${what} were dropped: too many wait to be written`)
  })

  return {
    /** `make` is the id's row, with nothing counted. */
    add,
    /** What is not yet in the database; undefined when that is nothing. */
    get: (id: string): Readonly<Row> | undefined => rows.get(id),
    /** How many rows wait. */
    size: () => rows.size,
    /** Writes what is there. One at a time. */
    flush: single.withPermits(1)(
      Effect.suspend(() => Effect.forEach(Array.chunksOf(rows, batch), writeSome, { discard: true }))
    ).pipe(Effect.ensuring(tellDropped))
  } as const
}

/** The same, written by a job of that name, and at the end of the scope: a crash loses what an interval brought. */
export const writeBehind = Effect.fnUntraced(
  function*<Row extends Record<Name, number>, Name extends string, Written, E>(
    job: string,
    interval: Duration.DurationInput,
    options: CountersOptions<Row, Name, Written, E>
  ) {
    const jobs = yield* Jobs
    const counters = makeCounters(options)
    const flush = Effect.catchAllCause(
      counters.flush,
      (cause) => Effect.logWarning(`${job} failed and is tried again`, cause)
    )
    // The process must come to its end without the database, too.
    yield* Effect.addFinalizer(() => Effect.timeoutOption(Effect.disconnect(flush), "5 seconds"))
    yield* jobs.every(job, interval, counters.flush)
    return { ...counters, flush }
  }
)
