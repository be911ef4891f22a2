import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { anyScope, withPolicy } from "#src/accounts/Policy.ts"
import { type PlanLimits, plans } from "#src/plans/Plan.ts"
import { now } from "#src/shared/now.ts"
import { Effect } from "effect"
import { type Holdings, HoldingsRepo } from "./HoldingsRepo.ts"
import { dayKey, monthKey, monthOf } from "./month.ts"
import { UsageRepo } from "./UsageRepo.ts"
import { type LimitUse, type UsageQuery, type UsageReport } from "./UsageReport.ts"

/** The moments at which a month's days begin, until the last one that has begun. */
const daysOf = (start: Date, end: Date, at: Date) => {
  const day = 24 * 60 * 60_000
  const count = Math.max(0, Math.ceil((Math.min(end.getTime(), at.getTime() + 1) - start.getTime()) / day))
  return Array.from({ length: count }, (_, number) => dayKey(start.getTime() + number * day))
}

const none = { requestCount: 0, computeSeconds: 0, bandwidthBytes: 0 }

/** Each limit with what is used of it; what is over stays, and only blocks what would be added. */
const limitUses = (
  limits: PlanLimits,
  usage: { readonly requestCount: number; readonly computeSeconds: number },
  holdings: Holdings
): ReadonlyArray<LimitUse> => {
  const { autoStopRequired, computeSecondsPerMonth, quotas, regions, requestsPerMonth } = limits
  const elsewhere = holdings.regions.filter((region) => !(regions as ReadonlyArray<string>).includes(region)).length
  const uses: ReadonlyArray<readonly [LimitUse["limit"], number, number | null]> = [
    ["requestsPerMonth", usage.requestCount, requestsPerMonth],
    ["computeSecondsPerMonth", usage.computeSeconds, computeSecondsPerMonth],
    ["servers", holdings.regions.length, quotas.servers],
    ["projects", holdings.projects, quotas.projects],
    ["businesses", holdings.businesses, quotas.businesses],
    ["previewBytes", holdings.previewBytes, quotas.previewBytes],
    ["documentBytes", holdings.documentBytes, quotas.documentBytes],
    ["region", elsewhere, 0],
    ["autoStop", holdings.neverStopping, autoStopRequired ? 0 : null]
  ]
  return uses.map(([limit, used, allowed]) => ({ limit, used, allowed, over: allowed !== null && used > allowed }))
}

/** The accounts' stored usage, a few seconds behind the counters. Limits are by the UTC calendar month on every plan. */
export class UsageReports extends Effect.Service<UsageReports>()("usage/UsageReports", {
  effect: Effect.gen(function*() {
    const repo = yield* UsageRepo
    const holdings = yield* HoldingsRepo

    const get = Effect.fn("UsageReports.get")(function*({ month }: typeof UsageQuery.Type) {
      const { accountId, plan } = yield* CurrentActor
      const at = yield* now
      const { end, start } = monthOf(month === undefined ? at.getTime() : Date.parse(`${month}-01`))
      const key = monthKey(start.getTime())
      const [usage, days, held] = yield* Effect.all([
        repo.ofMonth(accountId, key),
        repo.daysOf(accountId, key),
        holdings.of(accountId, at)
      ], { concurrency: "unbounded" })
      return {
        plan,
        month: key.slice(0, 7),
        startsAt: start,
        resetsAt: end,
        usage,
        limits: limitUses(plans[plan], usage, held),
        days: daysOf(start, end, at).map((day) => ({ day, ...none, ...days.find((counted) => counted.day === day) }))
      } satisfies UsageReport
    }, withPolicy(anyScope("billing:read")))

    return { get } as const
  })
}) {}
