import { CurrentActor } from "#src/accounts/CurrentActor.ts"
import { anyScope, withPolicy } from "#src/accounts/Policy.ts"
import { PlanName, plans } from "#src/plans/Plan.ts"
import { Timestamp } from "#src/shared/text.ts"
import { monthKey, monthOf } from "#src/usage/month.ts"
import { Usage } from "#src/usage/Usage.ts"
import { Clock, Effect, Schema } from "effect"

const Cap = Schema.NullOr(Schema.Int)

/** Contract: Platform resources, billing status. A null limit means no cap. */
export const BillingStatus = Schema.Struct({
  plan: PlanName,
  status: Schema.Literal("active", "past_due", "canceled", "trialing"),
  currentPeriodStart: Timestamp,
  currentPeriodEnd: Timestamp,
  usage: Schema.Struct({ requestCount: Schema.Int, computeSeconds: Schema.Int, bandwidthBytes: Schema.Int }),
  limits: Schema.Struct({ requestsPerMonth: Cap, computeSecondsPerMonth: Cap, maxServers: Cap })
}).annotations({ title: "BillingStatus" })

/** Plan and usage of the caller's account. Free accounts are `active`, their period the UTC calendar month. */
export class Billing extends Effect.Service<Billing>()("billing/Billing", {
  effect: Effect.gen(function*() {
    const usage = yield* Usage

    const status = Effect.gen(function*() {
      const { accountId, plan } = yield* CurrentActor
      const now = yield* Clock.currentTimeMillis
      const { end, start } = monthOf(now)
      const { computeSecondsPerMonth, quotas, requestsPerMonth } = plans[plan]
      return {
        plan,
        status: "active" as const,
        currentPeriodStart: start,
        currentPeriodEnd: end,
        usage: yield* usage.ofMonth(accountId, monthKey(now)),
        limits: { requestsPerMonth, computeSecondsPerMonth, maxServers: quotas.servers }
      }
    }).pipe(withPolicy(anyScope("billing:read")), Effect.withSpan("Billing.status"))

    return { status } as const
  })
}) {}
