import { Effect, Runtime, Schedule } from "effect"
import { monthKey, monthOf } from "./month.ts"
import { UsageRepo } from "./UsageRepo.ts"

interface Counter {
  readonly accountId: string
  readonly month: string
  /** Requests in the database when it was last asked; undefined before the first time. */
  stored: number | undefined
  requests: number
  bytes: number
  usedAt: number
  /** When `stored` was last asked for in vain. */
  failedAt: number
}

const flushEvery = "3 seconds"
/** A counter that nobody uses is forgotten; its total is in the database. */
const forgetAfter = 10 * 60_000

const askAgainAfter = 5_000

/**
 * Requests and bytes per account and UTC month. Counted in memory, written every few seconds and at the end: a crash
 * loses that much. Several gateways may count: each learns the others' share when it writes.
 */
export class RequestMetering extends Effect.Service<RequestMetering>()("usage/RequestMetering", {
  scoped: Effect.gen(function*() {
    const repo = yield* UsageRepo
    const run = Runtime.runPromise(yield* Effect.runtime())
    const counters = new Map<string, Counter>()
    const single = yield* Effect.makeSemaphore(1)

    // One string is made a month, not one a request.
    let month = { key: "", until: 0 }
    const currentMonth = (now: number) => {
      if (now >= month.until) month = { key: monthKey(now), until: monthOf(now).end.getTime() }
      return month.key
    }

    const counterOf = (accountId: string) => {
      const now = Date.now()
      const month = currentMonth(now)
      const key = `${accountId} ${month}`
      let counter = counters.get(key)
      if (counter === undefined) {
        counter = { accountId, month, stored: undefined, requests: 0, bytes: 0, usedAt: now, failedAt: 0 }
        counters.set(key, counter)
      }
      counter.usedAt = now
      return counter
    }

    // Subtracted once they are written, so that a failure loses nothing and `used` never dips.
    const write = Effect.fnUntraced(function*(due: ReadonlyArray<Counter>) {
      const deltas = due.map(({ accountId, bytes, month, requests }) => ({ accountId, month, requests, bytes }))
      const totals = yield* repo.add(deltas)
      due.forEach((counter, i) => {
        counter.requests -= deltas[i]!.requests
        counter.bytes -= deltas[i]!.bytes
      })
      for (const { accountId, month, requestCount } of totals) {
        const counter = counters.get(`${accountId} ${month}`)
        if (counter !== undefined) counter.stored = requestCount
      }
    })

    const flush = single.withPermits(1)(Effect.suspend(() => {
      const due = [...counters.values()].filter(({ bytes, requests }) => bytes + requests > 0)
      const old = Date.now() - forgetAfter
      for (const [key, counter] of counters) {
        if (counter.bytes + counter.requests === 0 && counter.usedAt < old) counters.delete(key)
      }
      return due.length === 0 ? Effect.void : Effect.uninterruptible(write(due))
    })).pipe(
      Effect.catchAllCause((cause) => Effect.logWarning("Usage was not written; it will be tried again", cause))
    )

    // The process must come to its end without the database, too.
    yield* Effect.addFinalizer(() => Effect.timeoutOption(Effect.disconnect(flush), "5 seconds"))
    yield* flush.pipe(Effect.repeat(Schedule.spaced(flushEvery)), Effect.forkScoped)

    const learn = async (accountId: string) => {
      const counter = counterOf(accountId)
      if (Date.now() - counter.failedAt < askAgainAfter) return
      try {
        const stored = await run(Effect.timeout(Effect.disconnect(repo.count(accountId, counter.month)), "1 second"))
        counter.stored ??= stored
      } catch {
        counter.failedAt = Date.now()
      }
    }

    return {
      /** Requests of the account this month, what is not yet written included; undefined: ask `learn` first. */
      used: (accountId: string) => {
        const { requests, stored } = counterOf(accountId)
        return stored === undefined ? undefined : stored + requests
      },
      /** Reads the account's stored count; when the database is away it stays unknown, and nobody waits for long. */
      learn,
      addRequest: (accountId: string) => {
        counterOf(accountId).requests++
      },
      /** Adds bytes of bodies; for streams, as they pass. */
      addBytes: (accountId: string, bytes: number) => {
        counterOf(accountId).bytes += bytes
      },
      flush
    } as const
  })
}) {}
