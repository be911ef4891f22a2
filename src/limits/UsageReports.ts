import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { anyScope, withPolicy } from "#src/accounts/Policy.ts"
import { ImageQuota } from "#src/deployments/ImageQuota.ts"
import { type PlanLimits, plans, Region } from "#src/plans/Plan.ts"
import { now } from "#src/shared/now.ts"
import { UploadQuota } from "#src/uploads/UploadQuota.ts"
import { dayKey, monthOf } from "#src/usage/month.ts"
import { told } from "#src/usage/told.ts"
import { Usage } from "#src/usage/Usage.ts"
import { Effect } from "effect"
import { type Holdings, HoldingsRepo } from "./HoldingsRepo.ts"
import { type LimitUse, type UsageQuery, type UsageReport } from "./UsageReport.ts"

const dayMillis = 24 * 60 * 60_000

/** The UTC days that have a part in a time, until the last one that has begun. */
const daysOf = (start: Date, end: Date, at: Date) => {
  const first = Math.floor(start.getTime() / dayMillis)
  const count = Math.max(0, Math.ceil(Math.min(end.getTime(), at.getTime() + 1) / dayMillis) - first)
  return Array.from({ length: count }, (_, number) => dayKey((first + number) * dayMillis))
}

const none = { requestCount: 0, computeSeconds: 0, bandwidthBytes: 0 }

const sumOf = (days: ReadonlyArray<typeof none>) =>
  days.reduce((sum, { bandwidthBytes, computeSeconds, requestCount }) => ({
    requestCount: sum.requestCount + requestCount,
    computeSeconds: sum.computeSeconds + computeSeconds,
    bandwidthBytes: sum.bandwidthBytes + bandwidthBytes
  }), none)

const reachedOf = (used: number, allowed: number | null) =>
  allowed === null || allowed === 0 ? null : told.findLast((percent) => used * 100 >= allowed * percent) ?? null

/** Each limit with what is used of it; what is over stays, and only blocks what would be added. */
const limitUses = (
  limits: PlanLimits,
  usage: { readonly requestCount: number; readonly computeSeconds: number },
  holdings: Holdings & { readonly imageBytes: number; readonly uploadBytes: number }
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
    ["imageBytes", holdings.imageBytes, quotas.imageBytes],
    ["uploadBytes", holdings.uploadBytes, quotas.uploadBytes],
    ["region", elsewhere, regions.length === Region.literals.length ? null : 0],
    ["autoStop", holdings.neverStopping, autoStopRequired ? 0 : null]
  ]
  return uses.map(([limit, used, allowed]) => ({
    limit,
    used,
    allowed,
    reached: reachedOf(used, allowed),
    over: allowed !== null && used > allowed
  }))
}

/** The accounts' stored usage, a few seconds behind the counters. */
export class UsageReports extends Effect.Service<UsageReports>()("limits/UsageReports", {
  effect: Effect.gen(function*() {
    const usage = yield* Usage
    const holdings = yield* HoldingsRepo
    const images = yield* ImageQuota
    const uploads = yield* UploadQuota

    const get = Effect.fn("UsageReports.get")(function*({ month }: typeof UsageQuery.Type) {
      const { accountId, plan } = yield* CurrentActor
      const at = yield* now
      const [{ resetsAt, startsAt, ...current }, held, imageBytes, uploadBytes] = yield* Effect.all([
        usage.current(accountId, at),
        holdings.of(accountId, at),
        images.used(accountId),
        uploads.used(accountId)
      ], { concurrency: "unbounded" })
      const { end, start } = month === undefined
        ? { start: startsAt, end: resetsAt }
        : monthOf(Date.parse(`${month}-01`))
      const days = daysOf(start, end, at)
      const [first, last] = [days[0], days.at(-1)]
      const counted = first === undefined || last === undefined ? [] : yield* usage.daysOf(accountId, first, last)
      return {
        plan,
        month: month ?? null,
        startsAt: start,
        resetsAt: end,
        usage: month === undefined ? current : sumOf(counted),
        limits: limitUses(plans[plan], current, { ...held, imageBytes, uploadBytes }),
        days: days.map((day) => ({ day, ...none, ...counted.find((one) => one.day === day) }))
      } satisfies UsageReport
    }, withPolicy(anyScope("billing:read")))

    return { get } as const
  })
}) {}
