import { writeBehind } from "#src/jobs/write-behind.ts"
import { Effect, Runtime } from "effect"
import { monthKey, monthOf } from "./month.ts"
import { UsageRepo } from "./UsageRepo.ts"

/** The stored part of an account's month, beside what is counted in memory. */
interface AccountMonth {
  /** Requests in the database when last read; undefined before the first read. */
  stored: number | undefined
  usedAt: number
  /** When reading `stored` last failed. */
  failedAt: number
}

const capacity = 100_000
/** Unused entries are evicted after this; their total is in the database. */
const evictAfter = 10 * 60_000

const retryAfter = 5_000

/**
 * Requests and bytes per account and UTC month. Counted in memory, written every few seconds and at shutdown: a crash
 * loses the last seconds. Several gateways may count: each write returns the total with the others' share.
 */
export class RequestMetering extends Effect.Service<RequestMetering>()("usage/RequestMetering", {
  scoped: Effect.gen(function*() {
    const repo = yield* UsageRepo
    const run = Runtime.runPromise(yield* Effect.runtime())
    const entries = new Map<string, AccountMonth>()

    // The key is computed once a month, not for each request.
    let month = { key: "", until: 0 }
    const currentMonth = (now: number) => {
      if (now >= month.until) month = { key: monthKey(now), until: monthOf(now).end.getTime() }
      return month.key
    }

    const idOf = (accountId: string, month: string) => `${accountId} ${month}`

    const entryOf = (accountId: string) => {
      const now = Date.now()
      const month = currentMonth(now)
      const id = idOf(accountId, month)
      let entry = entries.get(id)
      if (entry === undefined) entries.set(id, entry = { stored: undefined, usedAt: now, failedAt: 0 })
      entry.usedAt = now
      return { id, month, entry }
    }

    const { add, flush, get } = yield* writeBehind("Writing usage", "3 seconds", {
      what: "requests and bytes",
      names: ["requests", "bytes"],
      capacity,
      batch: capacity,
      write: repo.add,
      written: (totals) => {
        for (const { accountId, month, requestCount } of totals) {
          const entry = entries.get(idOf(accountId, month))
          if (entry !== undefined) entry.stored = requestCount
        }
        const old = Date.now() - evictAfter
        for (const [id, { usedAt }] of entries) if (usedAt < old && get(id) === undefined) entries.delete(id)
      }
    })

    const count = (accountId: string, name: "requests" | "bytes", by?: number) => {
      const { id, month } = entryOf(accountId)
      add(id, () => ({ accountId, month, requests: 0, bytes: 0 }), name, by)
    }

    const load = async (accountId: string) => {
      const { entry, month } = entryOf(accountId)
      if (Date.now() - entry.failedAt < retryAfter) return
      try {
        const stored = await run(Effect.timeout(Effect.disconnect(repo.count(accountId, month)), "1 second"))
        entry.stored ??= stored
      } catch {
        entry.failedAt = Date.now()
      }
    }

    return {
      /** Requests of the account this month, unwritten ones included; undefined: call `load` first. */
      used: (accountId: string) => {
        const { entry: { stored }, id } = entryOf(accountId)
        return stored === undefined ? undefined : stored + (get(id)?.requests ?? 0)
      },
      /** Reads the account's stored count; while the database is down it stays unknown, after a second at most. */
      load,
      addRequest: (accountId: string) => count(accountId, "requests"),
      /** Adds bytes of bodies; for streams, as they pass. */
      addBytes: (accountId: string, bytes: number) => count(accountId, "bytes", bytes),
      flush
    } as const
  })
}) {}
