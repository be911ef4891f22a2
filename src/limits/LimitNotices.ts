import { type PlanName, plans } from "#src/plans/Plan.ts"
import { ServerLogs } from "#src/servers/ServerLogs.ts"
import { Usage } from "#src/usage/Usage.ts"
import { Effect } from "effect"
import { HoldingsRepo } from "./HoldingsRepo.ts"

const shown = new Intl.NumberFormat("en").format

const words = (percent: number, allowed: number | null, what: string, plan: PlanName) =>
  percent === 0 || allowed === null ? [] : [
    {
      level: percent < 80 ? "info" : "warn",
      message: `The account has used ${percent} % of the ${shown(allowed)} ${what} that the ${plan} plan allows a month`
    } as const
  ]

/** Tells owners in their servers' logs what of a limit of the period is used (docs/decisions/compute-cap.md). */
export class LimitNotices extends Effect.Service<LimitNotices>()("limits/LimitNotices", {
  effect: Effect.gen(function*() {
    const usage = yield* Usage
    const holdings = yield* HoldingsRepo
    const logs = yield* ServerLogs

    const tell = Effect.gen(function*() {
      for (const { accountId, compute, plan, requests } of yield* usage.reached) {
        const { computeSecondsPerMonth, requestsPerMonth } = plans[plan]
        const lines = [
          ...words(requests, requestsPerMonth, "requests", plan),
          ...words(compute, computeSecondsPerMonth, "seconds of running machines", plan)
        ]
        const servers = lines.length === 0 ? [] : yield* holdings.deployed(accountId)
        yield* Effect.forEach(servers, (id) => logs.append(id, lines), { discard: true })
      }
    }).pipe(Effect.withSpan("LimitNotices.tell"))

    return { tell } as const
  })
}) {}
