import { type PlanName, plans } from "#src/plans/Plan.ts"
import { Effect, Runtime } from "effect"
import { LRUCache } from "lru-cache"
import { type GuestBudget, type GuestLimits, makeGuestBudget } from "./guest-budget.ts"
import { GuestRequestsRepo } from "./GuestRequestsRepo.ts"
import { dayKey } from "./month.ts"

/** What a server grants each caller who is not its owner. */
interface Host {
  readonly serverId: string
  /** The owner's. */
  readonly plan: PlanName
  /** Null: any number. */
  readonly guestRequestsPerMinute: number | null
  readonly guestMonthPercent: number
}

/** What one guest may use of a limit of the owner's month; null: any number. */
const shareOf = (ofMonth: number | null, percent: number) =>
  ofMonth === null || percent === 100 ? null : Math.max(1, Math.floor(ofMonth * percent / 100))

const limitsOf = ({ guestMonthPercent, guestRequestsPerMinute, plan }: Host): GuestLimits => ({
  aMinute: guestRequestsPerMinute,
  aMonth: shareOf(plans[plan].requestsPerMonth, guestMonthPercent),
  aTime: shareOf(plans[plan].computeSecondsPerMonth, guestMonthPercent)
})

/**
 * Requests of callers who are not a server's owner: so many a minute, and a share of the owner's month and of its machine
 * time, each (docs/decisions/guests.md). Counted in the database, from which each process takes some ahead.
 */
export class GuestRequests extends Effect.Service<GuestRequests>()("usage/GuestRequests", {
  effect: Effect.gen(function*() {
    const repo = yield* GuestRequestsRepo
    const run = Runtime.runPromise(yield* Effect.runtime())
    const budgets = new LRUCache<string, GuestBudget>({ max: 50_000 })

    const budgetOf = (serverId: string, guest: string) => {
      const key = `${serverId} ${guest}`
      let budget = budgets.get(key)
      if (budget === undefined) {
        budget = makeGuestBudget((wish) =>
          run(
            Effect.timeout(
              Effect.disconnect(repo.take({ ...wish, serverId, guest, day: dayKey(Date.now()) })),
              "1 second"
            )
          )
        )
        budgets.set(key, budget)
      }
      return budget
    }

    return {
      /** Counts a request of a guest; else says why it is not let in. */
      admit: (host: Host, guest: string) => {
        const limits = limitsOf(host)
        return limits.aMinute === null && limits.aMonth === null && limits.aTime === null
          ? undefined
          : budgetOf(host.serverId, guest)(limits)
      },
      sweep: repo.forget
    } as const
  })
}) {}
