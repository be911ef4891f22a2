import { writeBehind } from "#src/jobs/write-behind.ts"
import { Effect, Runtime } from "effect"
import { randomUUID } from "node:crypto"
import { makeMonthBudget, type MonthBudget } from "./month-budget.ts"
import { dayKey } from "./month.ts"
import { type UsageDelta, UsageRepo } from "./UsageRepo.ts"

const capacity = 100_000
/** Unused budgets are evicted after this; what they knew is in the database. */
const evictAfter = 10 * 60_000
const day = 24 * 60 * 60_000

/**
 * Requests and bytes per account and UTC day. Counted in memory, written every few seconds and at shutdown: a crash
 * loses what was counted since, three seconds at most. The month's limit is a budget in the database, from which each
 * process takes (docs/decisions/month-quota.md).
 */
export class RequestMetering extends Effect.Service<RequestMetering>()("usage/RequestMetering", {
  scoped: Effect.gen(function*() {
    const repo = yield* UsageRepo
    const run = Runtime.runPromise(yield* Effect.runtime())
    const holder = randomUUID()
    const budgets = new Map<string, MonthBudget>()
    /** Reservations to give back with the next write. */
    let returned: ReadonlyArray<string> = []

    // Keys are computed once a day, not for each request.
    let today = { key: "", until: 0, rows: new Map<string, string>() }
    const currentDay = (now: number) => {
      if (now >= today.until) {
        today = { key: dayKey(now), until: (Math.floor(now / day) + 1) * day, rows: new Map() }
      }
      return today.key
    }
    /** The key of an account's row of that day, which is today. */
    const rowOf = (accountId: string, day: string) => {
      let row = today.rows.get(accountId)
      if (row === undefined) today.rows.set(accountId, row = `${accountId} ${day}`)
      return row
    }

    const { add, flush } = yield* writeBehind("Writing usage", "3 seconds", {
      what: "requests and bytes",
      names: ["requests", "bytes"],
      capacity,
      batch: capacity,
      write: (deltas: ReadonlyArray<UsageDelta>) => {
        // At the moment at which the counts were copied: what is let through from now on is of another reservation.
        returned = [...returned, ...[...budgets.values()].flatMap((budget) => budget.release())]
        const sent = new Set(returned)
        return Effect.map(repo.settle(deltas, [...sent]), () => {
          returned = returned.filter((id) => !sent.has(id))
          const old = Date.now() - evictAfter
          for (const [id, budget] of budgets) if (budget.usedAt() < old) budgets.delete(id)
        })
      }
    })

    const count = (accountId: string, name: "requests" | "bytes", by?: number) => {
      const day = currentDay(Date.now())
      add(rowOf(accountId, day), () => ({ accountId, day, requests: 0, bytes: 0 }), name, by)
    }

    const budgetOf = (accountId: string) => {
      let budget = budgets.get(accountId)
      if (budget === undefined) {
        budget = makeMonthBudget({
          count: (by) => count(accountId, "requests", by),
          take: (wish) =>
            run(
              Effect.timeout(
                Effect.disconnect(repo.take({ ...wish, holder, accountId, day: currentDay(Date.now()) })),
                "1 second"
              )
            ),
          settle: () => run(flush)
        })
        budgets.set(accountId, budget)
      }
      return budget
    }

    return {
      /**
       * Counts a request when the month's limit (null: none) allows it, else says what is used. Waits for the database
       * only when nothing is left of what this process has reserved; while it can't be reached, every request passes.
       */
      admit: (accountId: string, limit: number | null) => {
        if (limit !== null) return budgetOf(accountId).admit(limit)
        count(accountId, "requests")
        return { _tag: "Admitted" } as const
      },
      /** Takes an admitted request back, which then was not passed on. */
      takeBack: (accountId: string) => count(accountId, "requests", -1),
      /** Adds bytes of bodies, and of machines' connections outside; for streams, as they pass. */
      addBytes: (accountId: string, bytes: number) => count(accountId, "bytes", bytes),
      flush
    } as const
  })
}) {}
