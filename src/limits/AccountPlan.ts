import { BillingStatus } from "#src/billing/Subscription.ts"
import { PlanView } from "#src/plans/PlanList.ts"
import { Schema } from "effect"
import { LimitUse } from "./UsageReport.ts"

const { cancelAtPeriodEnd, currentPeriodEnd, currentPeriodStart, status, usage } = BillingStatus.fields

/** What an account may use, what it costs, and what of it is used. */
export const AccountPlan = Schema.Struct({
  plan: PlanView,
  status,
  currentPeriodStart,
  currentPeriodEnd,
  cancelAtPeriodEnd,
  usage,
  limits: Schema.Array(LimitUse)
}).annotations({ title: "AccountPlan" })
export type AccountPlan = typeof AccountPlan.Type
