import { writeBehind } from "#src/jobs/write-behind.ts"
import { Effect, Runtime } from "effect"
import { monthKey, monthOf } from "./month.ts"
import { UsageRepo } from "./UsageRepo.ts"

/** What is known of an account's month beside what is counted here. */
interface Known {
  /** Requests in the database when it was last asked; undefined before the first time. */
  stored: number | undefined
  usedAt: number
  /** When `stored` was last asked for in vain. */
  failedAt: number
}

const capacity = 100_000
/** What nobody uses is forgotten; its total is in the database. */
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
    const known = new Map<string, Known>()

    // One string is made a month, not one a request.
    let month = { key: "", until: 0 }
    const currentMonth = (now: number) => {
      if (now >= month.until) month = { key: monthKey(now), until: monthOf(now).end.getTime() }
      return month.key
    }

    const idOf = (accountId: string, month: string) => `${accountId} ${month}`

    const knownOf = (accountId: string) => {
      const now = Date.now()
      const month = currentMonth(now)
      const id = idOf(accountId, month)
      let found = known.get(id)
      if (found === undefined) known.set(id, found = { stored: undefined, usedAt: now, failedAt: 0 })
      found.usedAt = now
      return { id, month, known: found }
    }

    const { add, flush, get } = yield* writeBehind("Writing usage", "3 seconds", {
      what: "requests and bytes",
      names: ["requests", "bytes"],
      capacity,
      batch: capacity,
      write: repo.add,
      written: (totals) => {
        for (const { accountId, month, requestCount } of totals) {
          const found = known.get(idOf(accountId, month))
          if (found !== undefined) found.stored = requestCount
        }
        const old = Date.now() - forgetAfter
        for (const [id, { usedAt }] of known) if (usedAt < old && get(id) === undefined) known.delete(id)
      }
    })

    const count = (accountId: string, name: "requests" | "bytes", by?: number) => {
      const { id, month } = knownOf(accountId)
      add(id, () => ({ accountId, month, requests: 0, bytes: 0 }), name, by)
    }

    const learn = async (accountId: string) => {
      const { known, month } = knownOf(accountId)
      if (Date.now() - known.failedAt < askAgainAfter) return
      try {
        const stored = await run(Effect.timeout(Effect.disconnect(repo.count(accountId, month)), "1 second"))
        known.stored ??= stored
      } catch {
        known.failedAt = Date.now()
      }
    }

    return {
      /** Requests of the account this month, what is not yet written included; undefined: ask `learn` first. */
      used: (accountId: string) => {
        const { id, known: { stored } } = knownOf(accountId)
        return stored === undefined ? undefined : stored + (get(id)?.requests ?? 0)
      },
      /** Reads the account's stored count; when the database is away it stays unknown, and nobody waits for long. */
      learn,
      addRequest: (accountId: string) => count(accountId, "requests"),
      /** Adds bytes of bodies; for streams, as they pass. */
      addBytes: (accountId: string, bytes: number) => count(accountId, "bytes", bytes),
      flush
    } as const
  })
}) {}
