import { data } from "#http/answers/envelope.ts"
import { apiOf } from "#http/answers/group.ts"
import { Billing } from "#src/billing/Billing.ts"
import { AccountPlans } from "#src/limits/AccountPlans.ts"
import { UsageReports } from "#src/limits/UsageReports.ts"
import { HttpApiBuilder } from "@effect/platform"
import { Effect } from "effect"
import { BillingApi } from "./Api.ts"

export const BillingHandlers = HttpApiBuilder.group(
  apiOf(BillingApi),
  "billing",
  (handlers) =>
    Effect.map(Effect.all([Billing, AccountPlans, UsageReports]), ([billing, plans, reports]) =>
      handlers
        .handle("status", () => Effect.map(billing.status, data))
        .handle("plan", () => Effect.map(plans.get(), data))
        .handle("usage", ({ urlParams }) => Effect.map(reports.get(urlParams), data))
        .handle("subscribe", ({ payload }) => Effect.map(billing.subscribe(payload), data))
        .handle("cancel", () => billing.cancel)
        .handle("switchPlan", ({ payload }) => billing.switchPlan(payload)))
)
