import { Billing } from "#src/billing/Billing.ts"
import { planList } from "#src/plans/PlanList.ts"
import { Effect } from "effect"
import { type AccountPlan } from "./AccountPlan.ts"
import { UsageReports } from "./UsageReports.ts"

/** The account's plan whole, for who decides what it may still do. */
export class AccountPlans extends Effect.Service<AccountPlans>()("limits/AccountPlans", {
  effect: Effect.gen(function*() {
    const billing = yield* Billing
    const reports = yield* UsageReports

    /** Both ask for the same scope. */
    const get = Effect.fn("AccountPlans.get")(function*() {
      const { limits: _, plan: name, ...status } = yield* billing.status
      const { limits } = yield* reports.get({})
      const plan = planList.find((one) => one.plan === name)
      return plan === undefined
        ? yield* Effect.dieMessage(`there is no plan ${name}`)
        : { plan, ...status, limits } satisfies AccountPlan
    })

    return { get } as const
  })
}) {}
