import { Clock, Effect, Schedule } from "effect"
import { type EventCount, EventsRepo } from "./EventsRepo.ts"

/** What happens to listings. */
export type EventKind = "view" | "search_impression" | "click" | "referral_click" | "transaction"

/** So many different counts wait at most, some 10 MB; what comes beyond is dropped, and the log says how much. */
const capacity = 50_000
const batch = 5_000

/**
 * Events of listings, counted by day. Recording never waits and never fails: counts are kept in memory and written each
 * second and at the end, so that a crash loses a second's. Each also counts towards its business's interactions.
 */
export class Events extends Effect.Service<Events>()("analytics/Events", {
  scoped: Effect.gen(function*() {
    const repo = yield* EventsRepo
    const waiting = new Map<string, EventCount>()
    const single = yield* Effect.makeSemaphore(1)
    let dropped = 0

    const add = (key: string, count: EventCount) => {
      const known = waiting.get(key)
      if (known === undefined && waiting.size >= capacity) dropped += count.n
      else waiting.set(key, { ...count, n: count.n + (known?.n ?? 0) })
    }

    /** Counts one event of the kind for each listing. */
    const record = (kind: EventKind, listingIds: ReadonlyArray<string>) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const day = new Date(now).toISOString().slice(0, 10)
        for (const listingId of listingIds) add(`${listingId} ${day} ${kind}`, { listingId, day, kind, n: 1 })
      })

    // Taken out while they are written, and put back when that failed: what comes meanwhile is counted anew.
    const write = Effect.gen(function*() {
      const due = [...waiting].slice(0, batch)
      for (const [key] of due) waiting.delete(key)
      yield* repo.add(due.map(([, count]) => count)).pipe(
        Effect.onError(() => Effect.sync(() => due.forEach(([key, count]) => add(key, count))))
      )
    })

    const flush = single.withPermits(1)(Effect.uninterruptible(
      Effect.whileLoop({ while: () => waiting.size > 0, body: () => write, step: () => undefined })
    )).pipe(
      Effect.catchAllCause((cause) => Effect.logWarning("Events were not written; they will be tried again", cause)),
      Effect.zipRight(Effect.suspend(() => {
        const lost = dropped
        dropped = 0
        return lost === 0 ? Effect.void : Effect.logWarning(`${lost} events were dropped: too many wait to be written`)
      }))
    )

    // The process must come to its end without the database, too.
    yield* Effect.addFinalizer(() => Effect.timeoutOption(Effect.disconnect(flush), "5 seconds"))
    yield* flush.pipe(Effect.repeat(Schedule.spaced("1 second")), Effect.forkScoped)

    return { record, flush, forget: repo.forget, waiting: () => waiting.size } as const
  })
}) {}
